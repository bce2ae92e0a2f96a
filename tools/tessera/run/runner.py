# SPDX-License-Identifier: Apache-2.0
"""Starts a built system in QEMU, iasim, Spike or the SoC's simulation: finds the emulator, checks it, and builds its
command line."""

import importlib
import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tessera.run.virtualtime import in_turn
from tessera.verify import executed

ROOT = Path(__file__).resolve().parents[3]
OLDEST_QEMU = (7, 2)
BASE_CPU = "rv64,h=true"
NATIVE_MEMORY_MIB = 128  # at least; the firmware and QEMU's device tree need memory, too
LOAD_TIMEOUT_S = 20


class RunError(Exception):
    """A run is not possible; the text gives cause and remedy on one line."""


@dataclass(frozen=True)
class Qemu:
    """A usable emulator, and the processor that it emulates."""

    program: str
    version: tuple[int, int]
    cpu: str


def find_qemu(program: str | None = None, cpu_flags: str | None = None) -> Qemu:
    """
    Returns the QEMU to use: `program`, else QEMU=, else the first in PATH. Raises RunError if QEMU
    is missing, is too old, lacks the H extension, or refuses the flags (`cpu_flags`, else CPU=).
    """
    program = program or os.environ.get("QEMU") or "qemu-system-riscv64"
    flags = (cpu_flags if cpu_flags is not None else os.environ.get("CPU", "")).strip(",")
    path, version = _find_program(program)
    if complaint := _refuses(path, BASE_CPU):
        raise RunError(f"QEMU: {path} does not emulate the hypervisor extension ({BASE_CPU}): {complaint}")
    cpu = f"{BASE_CPU},{flags}" if flags else BASE_CPU
    if flags and (complaint := _refuses(path, cpu)):
        raise RunError(f"QEMU: {path} refuses CPU={flags}: {complaint}")
    return Qemu(path, version, cpu)


def _find_program(program: str) -> tuple[str, tuple[int, int]]:
    """Returns the program's path and version; raises RunError for a version that is too old."""
    path = shutil.which(program)
    if path is None:
        raise RunError(f"QEMU: there is no program '{program}' (run `make setup`, or name another one: QEMU=path)")
    version = _version(path)
    if version < OLDEST_QEMU:
        have, need = (".".join(map(str, numbers)) for numbers in (version, OLDEST_QEMU))
        raise RunError(f"QEMU: {path} is version {have}, {need} or newer is needed (QEMU=path names another one)")
    return path, version


def _version(path: str) -> tuple[int, int]:
    try:
        done = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=LOAD_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RunError(f"QEMU: {path} cannot be started: {error}") from None
    found = re.search(r"QEMU emulator version (\d+)\.(\d+)", done.stdout)
    if not found:
        raise RunError(f"QEMU: {path} is not QEMU ('{path} --version' does not name QEMU)")
    return int(found[1]), int(found[2])


def _refuses(path: str, cpu: str) -> str | None:
    """Returns QEMU's error message for this processor, None if QEMU accepts it. QEMU starts and
    quits at once."""
    # Without OpenSBI: nothing runs.
    command = [path, "-M", "virt", "-cpu", cpu, "-bios", "none", "-S", "-display", "none", "-nodefaults"]
    try:
        done = subprocess.run(
            [*command, "-monitor", "stdio"],
            input="quit\n",
            capture_output=True,
            text=True,
            timeout=LOAD_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode == 0:
        return None
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    return lines[-1] if lines else f"it ends with status {done.returncode}"


@dataclass(frozen=True)
class BuiltSystem:
    """A system that the image builder has written to build/systems/<name>."""

    name: str
    image: Path
    data: dict[str, Any]

    @property
    def vms(self) -> list[dict[str, Any]]:
        return list(self.data["vms"])

    @property
    def names(self) -> list[str]:
        return [vm["name"] for vm in self.vms]

    def vm(self, name: str) -> dict[str, Any]:
        for vm in self.vms:
            if vm["name"] == name:
                return vm
        raise RunError(f"system '{self.name}' has no VM '{name}'; it has {', '.join(self.names)}")

    @property
    def hypervisor(self) -> Path:
        """The ELF file, with symbols, of the hypervisor in the system's image."""
        return (ROOT / self.data["hypervisor"]["path"]).with_suffix(".elf")

    def awaited(self) -> dict[str, str]:
        """The signs of life of the VMs that start at boot, by VM."""
        return {vm["name"]: vm["sign_of_life"] for vm in self.vms if vm["autostart"] and vm["sign_of_life"]}


def load_system(name: str, build: Path = ROOT / "build") -> BuiltSystem:
    """Loads the built system of systems/<name>.dts. Raises RunError if it was not built."""
    folder = build / "systems" / name
    try:
        data = json.loads((folder / "system.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RunError(f"{folder / 'system.json'}: {error} (run `make image SYSTEM={name}`)") from None
    image = folder / "tessera.bin"
    if not image.is_file():
        raise RunError(f"{image} does not exist (run `make image SYSTEM={name}`)")
    if all(data.get(emulator) is None for emulator in ("qemu", "iasim", "spike", "soc")):
        raise RunError(
            f"system '{name}' is for the board '{data.get('board')}', which no emulator supports; "
            "docs/porting.md#boards describes how its image is loaded"
        )
    return BuiltSystem(name, image, data)


def need_qemu(system: BuiltSystem, what: str) -> None:
    """Raises RunError if the system is for a board that QEMU does not emulate; `what` is the
    operation that needs QEMU."""
    if system.data["qemu"] is None:
        raise RunError(f"system '{system.name}' is for the board '{system.data['board']}', which has no {what}")


def console_arguments(monitor: bool = False) -> list[str]:
    """Connects the machine's only UART to standard input and output; with `monitor`, Ctrl-A is
    QEMU's escape key."""
    arguments = ["-display", "none"]
    if monitor:
        return [*arguments, "-chardev", "stdio,id=c0,mux=on,signal=off", "-serial", "chardev:c0", "-mon", "chardev=c0"]
    return [*arguments, "-monitor", "none", "-chardev", "stdio,id=c0,signal=off", "-serial", "chardev:c0"]


def iasim() -> str:
    """Returns the simulator of the M5150: IASIM=, or the one that `make iasim` builds."""
    path = Path(os.environ.get("IASIM") or ROOT / "build/iasim/release/iasim")
    if not path.is_file():
        raise RunError(f"iasim: {path} does not exist (run `make iasim`)")
    return str(path)


def iasim_command(system: BuiltSystem, *options: str) -> list[str]:
    """Returns the command line that boots the system in iasim from reset. The hypervisor's ELF file
    gives the symbols and the reset code."""
    image = str(system.image.with_suffix(".elf"))
    words = [*executed.iasim_arguments(system.hypervisor), *options, str(system.hypervisor), image]
    return [iasim(), "run", "--board", system.data["iasim"]["board"], *words]


def iasim_native_command(system: BuiltSystem, name: str, *options: str) -> list[str]:
    """Returns the command line that runs a VM's guest unchanged without a hypervisor, on the board
    whose devices the guest sees in the VM."""
    guest = str((ROOT / system.vm(name)["image"]["path"]).with_suffix(".elf"))
    return [iasim(), "run", "--board", "generic", *options, guest]


FIRMWARE_START = 0x8000_0000  # arch/riscv/firmware/firmware.lds


def spike_command(system: BuiltSystem) -> list[str]:
    """Returns the command line that boots the system in Spike: FIRMWARE=, or the firmware of `make firmware`, then the
    hypervisor."""
    program, firmware = os.environ.get("SPIKE") or "spike", ROOT / "build/firmware/spike/firmware.elf"
    path, wanted = shutil.which(program), system.data["spike"]
    if path is None:
        raise RunError(
            f"Spike: there is no program '{program}'. No package registry has it: build it from the sources of the "
            "project riscv-isa-sim (docs/porting.md#boards), and name it by SPIKE=path"
        )
    firmware = Path(os.environ.get("FIRMWARE") or firmware)
    if not firmware.is_file():
        raise RunError(f"firmware: {firmware} does not exist (run `make firmware PLATFORM=spike`)")
    return [
        path,
        *(f"-m{wanted['memory_mib']}", f"-p{system.data['harts']}", f"--isa={wanted['isa']}"),
        *(f"--kernel={system.image}", str(firmware)),
    ]


def soc_command(system: BuiltSystem) -> list[str]:
    """Returns the command line that runs the system on the SoC in RTL: the firmware, then the hypervisor."""
    if not os.environ.get("CVA6_DIR"):
        raise RunError(
            "the simulated SoC needs a core with the H extension, which no package registry has: "
            "CVA6_DIR=path names a checkout of CVA6 (docs/fabric.md#the-core)"
        )
    program, firmware = ROOT / "build/soc/core-h/soc_sim", ROOT / "build/firmware/cva6-sim/firmware.bin"
    missing = [path for path in (program, firmware) if not path.is_file()]
    if missing:
        raise RunError(f"{missing[0]} does not exist (run `make run PLATFORM=cva6-sim CVA6_DIR=path`)")
    return [str(program), f"{FIRMWARE_START:#x}:{firmware}", f"{system.data['soc']['load']:#x}:{system.image}"]


# QEMU 7.2 checks bit 40 of guest-physical addresses as a sign; Sv39x4 has 41 bits without one. 8 and 9 were not tried.
WHOLE_GSTAGE_QEMU = (10, 0)
SIGNED_GSTAGE = 1 << 40


def _check_addresses(qemu: Qemu, system: BuiltSystem) -> None:
    """Refuses a system with memory that an older QEMU does not translate: its VM would die at the first access."""
    if qemu.version >= WHOLE_GSTAGE_QEMU:
        return
    memory = [(vm["name"], one) for vm in system.data["vms"] for one in [vm["memory"], *vm["more_memory"]]]
    memory += [(region["name"], region["memory"]) for region in system.data["shared"]]
    for name, one in memory:
        if one["base"] + one["size"] > SIGNED_GSTAGE:
            version, first = ".".join(map(str, qemu.version)), ".".join(map(str, WHOLE_GSTAGE_QEMU))
            raise RunError(
                f"QEMU: {qemu.program} is version {version}, which translates no guest-physical address from "
                f"{SIGNED_GSTAGE:#x} on; {name} has memory at {one['base']:#x}: use {first} or newer (QEMU=path)"
            )


def host_processors() -> int:
    """Returns the number of processors that QEMU may use."""
    return len(os.sched_getaffinity(0))


def takes_turns(system: BuiltSystem) -> bool:
    """Returns whether QEMU runs the system's harts in turn, because this host has fewer processors."""
    return system.data["qemu"] is not None and system.data["harts"] > host_processors()


def turns_notice(system: BuiltSystem) -> str | None:
    """Returns a line for the user if the system's harts run in turn."""
    if not takes_turns(system):
        return None
    return (
        f"This host has {host_processors()} processors for {system.data['harts']} harts: QEMU runs the harts in turn, "
        "and the time of busy VMs passes slower than the host's (docs/porting.md#more-harts-than-processors)."
    )


def system_command(qemu: Qemu, system: BuiltSystem, turns: bool = True, /, **files: Path) -> list[str]:
    """
    Returns the command line that boots the system: the firmware, then the hypervisor with its VMs. `turns`: the harts
    run in turn if this host has too few processors for them. `files`: of the shared devices, as in
    cosim.FabricOptions.
    """
    _check_addresses(qemu, system)
    wanted = system.data["qemu"]
    slowed = turns and takes_turns(system)
    return [
        qemu.program,
        *("-M", wanted["machine"], "-cpu", qemu.cpu),
        *("-smp", str(system.data["harts"]), "-m", str(wanted["memory_mib"])),
        *console_arguments(),
        *firmware_arguments(qemu),
        *("-kernel", str(system.image)),
        *wanted["arguments"],
        *(in_turn() if slowed else ()),
        *_fabric_arguments(qemu, system, files, slowed),
        *executed.qemu_arguments(qemu.version, system.hypervisor),
    ]


HOST_PERIOD_NS = 10000  # fpga/target/cosim/qemu_device.cc: a cycle of the fabric in the host's time


def _fabric_arguments(qemu: Qemu, system: BuiltSystem, files: dict[str, Path], slowed: bool) -> list[str]:
    """Returns QEMU's options for the fabric of a system with accelerators, with shared devices or with queues in
    sorters, else none. `slowed`: its clock is that of a run in the host's time."""
    shared = bool(system.data.get("shared_devices"))
    if not shared and not system.data.get("fabric") and not system.data.get("sorters"):
        return []
    try:
        cosim = importlib.import_module("tessera.run.cosim")  # builds the model of the RTL: only where it is needed
    except ModuleNotFoundError as error:
        raise RunError(f"system '{system.name}' needs the simulated fabric: {error}") from None
    more: dict[str, Any] = {**(files if shared else {}), **({"period": HOST_PERIOD_NS} if slowed else {})}
    return list(cosim.fabric_arguments(qemu, options=cosim.FabricOptions(shared=shared, **more)))


OPENSBI = "opensbi"  # of FIRMWARE=: QEMU's own firmware
OWN_FIRMWARE = ROOT / "build/firmware/qemu-virt/firmware.bin"
# From this version on, a guest escapes from its VM under OpenSBI (docs/isolation.md#the-firmware).
OPENSBI_LEAKS = (10, 0)


def firmware_arguments(qemu: Qemu) -> list[str]:
    """Returns QEMU's option for the firmware: FIRMWARE=, else the project's own one, with an older QEMU OpenSBI."""
    chosen = os.environ.get("FIRMWARE") or (OPENSBI if qemu.version < OPENSBI_LEAKS else str(OWN_FIRMWARE))
    if chosen == OPENSBI:
        return []
    if not Path(chosen).is_file():
        raise RunError(f"FIRMWARE={chosen}: there is no such file (`make firmware` builds one, docs/porting.md)")
    return ["-bios", chosen]


def _is_opensbi(firmware: str) -> bool:
    """True of QEMU's own firmware, and of a file with OpenSBI's name in its banner."""
    return firmware == OPENSBI or (Path(firmware).is_file() and b"OpenSBI" in Path(firmware).read_bytes())


def firmware_warning(qemu: Qemu) -> str | None:
    """Returns why this QEMU should not run VMs with the chosen firmware."""
    chosen = os.environ.get("FIRMWARE")
    if qemu.version < OPENSBI_LEAKS or not chosen or not _is_opensbi(chosen):
        return None
    version = ".".join(map(str, qemu.version))
    return (
        f"warning: FIRMWARE={chosen}: on QEMU {version} OpenSBI can enter a guest's trap handler with the rights of "
        "the hypervisor (docs/isolation.md); without FIRMWARE= the project's own firmware runs"
    )


def native_command(qemu: Qemu, system: BuiltSystem, name: str, monitor: bool = False) -> list[str]:
    """Returns the command line that boots a VM's guest unchanged without a hypervisor: the firmware,
    then the guest."""
    vm = system.vm(name)
    memory = max(NATIVE_MEMORY_MIB, vm["memory"]["size"] >> 20)
    command = [
        qemu.program,
        *("-M", system.data["qemu"]["machine"], "-cpu", qemu.cpu),
        *("-smp", str(vm["vcpus"]), "-m", str(memory)),
        *console_arguments(monitor),
        *firmware_arguments(qemu),
        *("-kernel", str(ROOT / vm["image"]["path"])),
    ]
    if vm.get("initrd"):
        command += ["-initrd", str(ROOT / vm["initrd"]["path"])]
    if vm.get("bootargs"):
        command += ["-append", vm["bootargs"]]
    return command
