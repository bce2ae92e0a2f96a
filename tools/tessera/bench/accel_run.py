# SPDX-License-Identifier: Apache-2.0
"""Runs a system with accelerators and records the manager's paths (tessera.bench.accel)."""

import re
from itertools import pairwise
from pathlib import Path

from tessera.bench import passes
from tessera.bench.accel import FUNCTIONS, RETURN, SLEEP, device_interrupts, paths
from tessera.bench.accel import Path as VdmPath
from tessera.bench.machine import TIMEOUT_S, BenchError, run_tool
from tessera.fabric.registers import register
from tessera.run.cosim import BASE
from tessera.run.machine import HYPERVISOR, Machine
from tessera.run.runner import BuiltSystem, Qemu, system_command

FABRIC = passes.Device(BASE, register("FABRIC_SPAN"))
_END = re.compile(rf"^\s*([0-9a-f]+):\s+[0-9a-f ]+\s({RETURN}|{SLEEP})\s*$", re.MULTILINE)
_CHECK = "accel_check_streams"
_RET = re.compile(r"^\s*([0-9a-f]+):\s+[0-9a-f ]+\sret\s*$", re.MULTILINE)
_DONE = re.compile(r"accel: done, 0 wrong")
_CRYPTO_DONE = re.compile(r"virtio_crypto: done")
_START = register("FABRIC_IFS") + register("FABRIC_IF_START")  # of device 0 of the first client


def _symbol(elf: Path, name: str) -> int:
    """Returns the address of a label, which may be one of assembly."""
    match = re.search(rf"^([0-9a-f]+) [tT] {name}$", run_tool(["riscv64-unknown-elf-nm", str(elf)]), re.MULTILINE)
    if match is None:
        raise BenchError(f"{elf}: expected a label {name}")
    return int(match[1], 16)


def _places(elf: Path) -> dict[int, str]:
    """The instructions to note: the first of some functions, and all at which the hart leaves the
    hypervisor or sleeps."""
    found = {_symbol(elf, name): name for name in FUNCTIONS}
    code = run_tool(["riscv64-unknown-elf-objdump", "-d", str(elf)])
    return found | {int(address, 16): what for address, what in _END.findall(code)}


def _check_places(elf: Path) -> dict[int, str]:
    """The first instruction of the check of bitstreams, and those at which it returns."""
    code = run_tool(["riscv64-unknown-elf-objdump", "-d", str(elf)])
    body = code.partition(f"<{_CHECK}>:")[2].partition("\n\n")[0]
    return {_symbol(elf, _CHECK): _CHECK} | {int(address, 16): "ret" for address in _RET.findall(body)}


def run_check(qemu: Qemu, system: BuiltSystem, folder: Path) -> float:
    """Runs a system to its power-off; returns the instructions of the check of its bitstreams at boot, for a KiB of
    bitstream."""
    places = _check_places(system.hypervisor)
    begin, end = [one for one in _record(qemu, system, folder, places) if one.what in places.values()][:2]
    if (begin.what, end.what) != (_CHECK, "ret"):
        raise BenchError(f"expected that {_CHECK} begins and returns at boot, got {begin} and {end}")
    sizes = [one["size"] for device in system.data["fabric"]["devices"] for one in device["bitstreams"]]
    return (end.executed - begin.executed) * 1024 / sum(sizes)


def run_paths(qemu: Qemu, system: BuiltSystem, folder: Path) -> tuple[list[VdmPath], list[int]]:
    """Runs a system to its power-off; returns the paths, and the latencies of the devices'
    interrupts to guests."""
    events = _record(qemu, system, folder, _places(system.hypervisor))
    return paths(events), device_interrupts(events)


def run_jobs(qemu: Qemu, system: BuiltSystem, folder: Path) -> list[int]:
    """Runs a system to its power-off, whose only VM uses a virtio-crypto with a unit; returns the instructions from
    each start of a job to the next one, those of the guest included, the hart's sleep not."""
    starts = [
        one.executed
        for one in _record(qemu, system, folder, {}, _CRYPTO_DONE)
        if (one.what, one.offset) == ("store", _START)
    ]
    if len(starts) < 2:
        raise BenchError(f"system '{system.name}': expected jobs of its unit, got {len(starts)}")
    return [after - before for before, after in pairwise(starts)]


def _record(
    qemu: Qemu, system: BuiltSystem, folder: Path, places: dict[int, str], done: re.Pattern[str] = _DONE
) -> list[passes.Event]:
    """Runs a system to its power-off; returns its passes of `places` and its accesses to the fabric."""
    out = folder / f"{system.name}-passes.txt"
    out.unlink(missing_ok=True)
    start = _symbol(system.hypervisor, "__text_start")
    noting = passes.arguments(qemu, folder, start, places, FABRIC, out)
    names = [*system.names, HYPERVISOR]
    with Machine([*system_command(qemu, system), *noting], names) as machine:
        ended = machine.wait_until(lambda: not machine.running, TIMEOUT_S)
        right = all(done.search(machine.console.text(vm)) for vm in system.names)
    if not ended or not right:
        raise BenchError(f"system '{system.name}': expected every guest to end with 0 wrong results, and power-off")
    return passes.read_passes(out, places, FABRIC)
