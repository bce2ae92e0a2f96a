# SPDX-License-Identifier: Apache-2.0
"""
Helpers of the end-to-end tests: build the test systems (tests/e2e/systems), boot them and drive the
console.

Each system is built into a separate folder below build/e2e. Some are built with hidden features or
with a hypervisor of another compiler, and these must not replace the systems of `make run` in
build/systems.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fcntl import LOCK_EX, flock
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tessera.image import variants
from tessera.run.hosttime import Limit
from tessera.run.machine import HYPERVISOR, Machine
from tessera.run.runner import ROOT, BuiltSystem, find_qemu, iasim_command, load_system, system_command
from tessera.run.virtualtime import By, deadlines, virtual_time

SYSTEMS = Path(__file__).resolve().parent / "systems"
GUESTS = ROOT / "build" / "guests"
GUEST_PATH = "build/guests:build/fpga"  # with bitstreams for the fabric
NEWER_QEMU = str(ROOT / "cache" / "qemu-new" / "qemu-system-riscv64")
HYPERVISOR_BIN = ROOT / "build" / "hyp" / "qemu-virt" / "tessera.bin"
SORTER_BIN = ROOT / "build/check/hyp-sorter/tessera.bin"
ALL_SORTERS_BIN = ROOT / "build/check/hyp-sorter-timers/tessera.bin"
OUT = ROOT / "build" / "e2e"
ESCAPE = "\x14"
# The console's report of a restart, immediate or after a backoff.
AGAIN = r"starts again(?: in \d+ ms)?"
LINUX_PROMPT = r"^linux:~# "
EVERY_FEATURE = "sstc,htinst,htimedelta,envcfg,svpbmt,svadu,zicbom,zicboz,zba,zbb,zbs,svinval,zawrs"
VIRTUAL = virtual_time(By.COMMAND)
# For several harts in virtual time. Under -icount QEMU runs one hart until the next deadline of its
# virtual clock, so a hart that waits for a lock spins until then. QEMU 7.2 gives the other harts only
# the time that a busy hart does not use.
TURN_US = 10
TURNS = deadlines(By.TURNS, TURN_US)
# Timeouts in seconds of host time. Time in which QEMU waits for a host CPU does not count; a test
# whose machine gets too little CPU time is reported as "host too slow" and not as failed
# (tessera.run.hosttime).
SOON_S = 60
BOOT_S = 180
ERROR_S = 60


# Variables that `make test` passes to its children: make's own and those exported by tools/mk.
MAKES_OWN = {"MAKEFLAGS", "MAKELEVEL", "MFLAGS", "PORT", "SYSTEM", "WITHOUT", "GUEST_PATH", "VM", "CONSOLES"}


def clean_environment() -> dict[str, str]:
    """The environment without the variables that an enclosing make has exported."""
    return {key: value for key, value in os.environ.items() if key not in MAKES_OWN}


def run(command: list[str], timeout: float = 600, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a program until it exits, with standard input from /dev/null."""
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=timeout,
        env={**clean_environment(), **environment},
    )  # fmt: skip


@contextmanager
def alone_building() -> Iterator[None]:
    """Serializes builds: the pytest-xdist workers of one run share the build folder."""
    lock = ROOT / "build" / "e2e.lock"
    lock.parent.mkdir(exist_ok=True)
    with lock.open("w") as file:
        flock(file, LOCK_EX)
        yield


def make(*words: str) -> None:
    with alone_building():
        done = run(["make", "--no-print-directory", "-s", *words])
    assert done.returncode == 0, f"make {' '.join(words)} failed:\n{done.stdout[-3000:]}{done.stderr[-3000:]}"


def mkimage(source: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    program = str(ROOT / "tools" / "mkimage.py")
    return run([sys.executable, program, str(source), *arguments], PYTHONDONTWRITEBYTECODE="1")


def source_of(name: str) -> Path:
    """The source of a system of the tests, of systems/ or of systems/bench, the first that exists."""
    folders = (SYSTEMS, ROOT / "systems", ROOT / "systems" / "bench")
    files = [folder / f"{name}.dts" for folder in folders]
    return next((file for file in files if file.exists() or variants.section(file)), files[1])


def whole_source(source: Path) -> str:
    """The text of a system source with its includes expanded."""
    text = variants.source_text(source)
    return re.sub(r'/include/ "([^"]+)"', lambda found: whole_source(source.parent / found[1]), text)


@cache
def _make_parts(name: str) -> None:
    listed = mkimage(source_of(name), "--guests", GUEST_PATH, "--list-files")
    assert listed.returncode == 0, listed.stderr
    make("image-parts", f"IMAGE_FILES={' '.join(listed.stdout.split())}")


@cache
def firmware(hide: str = "") -> Path:
    """The project's firmware, which withholds what `hide` names (arch/riscv/firmware/firmware.h)."""
    folder = ROOT / "build" / "check" / f"firmware{hide and '-no-'}{hide.replace(' ', '-no-')}"
    make("firmware", f"FIRMWARE_HIDE={hide}", f"FW_BUILD={folder.relative_to(ROOT)}")
    return folder / "firmware.bin"


@cache
def hypervisor_with(components: str) -> Path:
    """The hypervisor with these components only, in a folder separate from the default build."""
    folder = f"build/check/hyp-with-{components.replace(' ', '-') or 'none'}"
    make("hyp", f"HYP_COMPONENTS={components}", f"HYP_BUILD={folder}")
    return ROOT / folder / "tessera.bin"


def hypervisor_by(compiler: str) -> Path:
    """The hypervisor built by this compiler, in a folder separate from the default build."""
    folder = f"build/check/hyp-{compiler}"
    make("hyp", f"HYP_CC={compiler}", f"HYP_BUILD={folder}")
    return ROOT / folder / "tessera.bin"


@cache
def hypervisor_with_sorters() -> Path:
    """The hypervisor with the queues of RT apps in the fabric's sorters."""
    make("cosim")
    make("hyp", "HYP_RT_QUEUE=sorter", f"HYP_BUILD={SORTER_BIN.parent}")
    return SORTER_BIN


@cache
def hypervisor_with_all_sorters() -> Path:
    """The hypervisor with the queues of RT apps and the timers in the fabric's sorters."""
    make("cosim")
    make("hyp", "HYP_RT_QUEUE=sorter", "HYP_TIMERS=sorter", f"HYP_BUILD={ALL_SORTERS_BIN.parent}")
    return ALL_SORTERS_BIN


def _queue_of(hypervisor: Path) -> tuple[str, ...]:
    """The image builder's option for a hypervisor with queues in sorters."""
    return ("--sorters",) if hypervisor in (SORTER_BIN, ALL_SORTERS_BIN) else ()


@cache
def built(
    name: str, without: str = "", hypervisor: Path = HYPERVISOR_BIN, components: str | None = None
) -> BuiltSystem:
    """Builds a system, once per session for each hypervisor and set of hidden features. `components`: those of the
    hypervisor, None for the default."""
    _make_parts(name)
    hidden = "minimal" if without == EVERY_FEATURE else without.replace(",", "-")
    other = "" if hypervisor == HYPERVISOR_BIN else hypervisor.parent.name
    folder = OUT / "systems" / "-".join(filter(None, (name, hidden, other)))
    where = ("--guests", GUEST_PATH, "--hypervisor", str(hypervisor), *_queue_of(hypervisor), "--out", str(folder))
    chosen = () if components is None else ("--components", components)
    with alone_building():
        done = mkimage(source_of(name), *where, "--without", without, *chosen)
    assert done.returncode == 0, done.stderr
    return load_system(folder.name, OUT)


@cache
def built_with_harts(name: str, harts: int, changes: str = "", hypervisor: Path = HYPERVISOR_BIN) -> BuiltSystem:
    """
    Builds a system with another number of harts. `changes` are further properties and nodes of the
    root node. The builder refuses virtual-time with several harts, so it is deleted; the test
    passes VIRTUAL and TURNS instead.
    """
    _make_parts(name)
    other = "" if hypervisor == HYPERVISOR_BIN else hypervisor.parent.name
    folder = OUT / "systems" / "-".join(filter(None, (name, f"{harts}-harts", other)))
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / f"{name}.dts"
    root = f"harts = <{harts}>; /delete-property/ virtual-time; {changes}"
    source.write_text(f'/include/ "{source_of(name)}"\n/ {{ {root} }};\n', encoding="utf-8")
    where = ("--guests", GUEST_PATH, "--hypervisor", str(hypervisor), *_queue_of(hypervisor), "--out", str(folder))
    with alone_building():
        done = mkimage(source, *where)
    assert done.returncode == 0, done.stderr
    return load_system(folder.name, OUT)


@dataclass(frozen=True)
class Board:
    """What differs between boards as seen by a bare-metal guest; addresses are those that the guest
    uses."""

    architecture: str
    ram_base: int
    ram_end: int  # of a guest of tests/guests/misbehave
    image: int
    free: int  # memory that no test guest uses
    hole: int
    low: int  # an unmapped address far from `hole`
    uart: int
    no_vector: int  # where tests/guests/misbehave puts its vector of traps before a fatal one
    no_vector_pc: int
    shared: int
    faults: dict[str, int]  # exception code for each kind of access to an unmapped address
    tells_address: bool  # whether these exceptions report the faulting address
    memory: list[str]  # memory sizes of the three guests of trio, as listed by the console


RISCV = Board(
    architecture="riscv", ram_base=0x80000000, ram_end=0x80400000, image=0x80200000, free=0x80180000, hole=0x1F000000,
    low=0x1234, uart=0x10000000, no_vector=0x1F001000, no_vector_pc=0x1F001000, shared=0xA0000000,
    faults={"read": 5, "write": 7, "jump": 1}, tells_address=True, memory=["4 MB"] * 3,
)  # fmt: skip
MIPS = Board(
    architecture="mips", ram_base=0x80000000, ram_end=0x80010000, image=0x80001000, free=0x8000C000, hole=0xBF000000,
    low=0x90001234, uart=0xBFD003F8, no_vector=0x1F001180, no_vector_pc=0x9F001180, shared=0x90000000,
    faults={"read": 7, "write": 7, "jump": 6}, tells_address=False, memory=["64 KB", "64 KB", "96 KB"],
)  # fmt: skip
MIPS_BOARDS = ("m5150", "m5150-generic")


def few_of(values: Sequence[Any], kept: Sequence[Any]) -> list:
    """Test parameters: `make test` takes those of `kept`, `make soak` the others."""
    return [pytest.param(value, marks=() if value in kept else pytest.mark.long) for value in values]


def on_every_board(*names: str, long: bool = False) -> list:
    """
    Test parameters: the named systems on qemu-virt, and the first of them ported to each MIPS
    board. Only `make soak` runs those on the second MIPS board; with `long`, on both.
    """
    part, generic = (f"{names[0]}@{board}" for board in MIPS_BOARDS)
    marks = [pytest.mark.long] if long else []
    return [*names, pytest.param(part, marks=marks), pytest.param(generic, marks=pytest.mark.long)]


def board_of(name: str) -> Board:
    return MIPS if "@" in name else RISCV


# Substitutions that port a system to a MIPS board: one hart, little memory, guests with one VCPU
# and without a PLIC.
PORTED = (
    (r"harts = <\d+>", "harts = <1>"),
    (r'memory-size = <0x400000>;([^}]*?image = "misbehave/)', r"memory-size = <0x10000>;\1"),
    ("memory-size = <0x400000>", "memory-size = <0x18000>"),
    (r"\n\s*(vcpus|message-interrupt) = <\d+>;", ""),
    (r"(\d+:\d+:\d+:\d+):1\b", r"\1:0"),  # an RT app's hart
    ("size = <0x200000>", "size = <0x4000>"),
    ("address = <0xa0000000>", "address = <0x10000000>"),
    ("mailbox=a0000000", "mailbox=90000000"),  # the same region at the guest's address
)


@cache
def built_for(name: str, board: str) -> BuiltSystem:
    """Ports a system of bare-metal guests to a MIPS board and builds it."""
    text = re.sub('board = "[a-z0-9-]+"', f'board = "{board}"', whole_source(source_of(name)))
    for pattern, by in PORTED:
        text = re.sub(pattern, by, text)
    copy = OUT / "ported" / f"{name}-on-{board}.dts"
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_text(text, encoding="utf-8")
    system = f"../{copy.relative_to(ROOT).with_suffix('')}"
    make("image", f"SYSTEM={system}", f"BOARD={board}")
    return load_system(system)


def built_on(name: str) -> BuiltSystem:
    """Builds a system by a name that on_every_board() returned."""
    system, _, board = name.partition("@")
    return built_for(system, board) if board else built(system)


def boot_command(
    system: BuiltSystem, cpu: str | None = None, qemu: str | None = None, *, turns: bool = True
) -> list[str]:
    if system.data["iasim"]:
        return iasim_command(system)
    return system_command(find_qemu(qemu, cpu), system, turns)


def for_iasim(arguments: tuple[str, ...]) -> tuple[str, ...]:
    """The iasim equivalent of QEMU's arguments: iasim uses virtual time unless --real-time is
    given."""
    assert arguments in ((), VIRTUAL), arguments
    return () if arguments else ("--real-time",)


@contextmanager
def booted(
    system: BuiltSystem, label: str, *arguments: str, cpu: str | None = None, qemu: str | None = None
) -> Iterator[Machine]:
    """
    Boots a machine and logs its output to build/e2e/<label>.log. `cpu` replaces the CPU flags of
    CPU=, `qemu` the program of QEMU=. A system for the M5150 boots in iasim.
    """
    OUT.mkdir(parents=True, exist_ok=True)
    more = for_iasim(arguments) if system.data["iasim"] else arguments
    words = [*boot_command(system, cpu, qemu, turns="-icount" not in arguments), *more]
    with Machine(words, system.names, OUT / f"{label}.log") as machine:
        yield machine


def wait_for_signs_of_life(machine: Machine, system: BuiltSystem, timeout: float = BOOT_S) -> None:
    """
    Waits until each VM has printed its sign of life. The sign may be split over two lines: the
    console ends a line that gets no characters for a while, which happens to a guest that waits for
    the hart.
    """
    for name, sign in system.awaited().items():
        machine.expect(name, r"\n?".join(map(re.escape, sign)), timeout)


@contextmanager
def booted_linux(name: str) -> Iterator[Machine]:
    """
    Boots a system with a single VM, linux, up to the shell prompt. Its lines carry the VM's name
    although there is only one VM; `shared` makes the parser expect the name.
    """
    system = built(name)
    with booted(system, name) as machine:
        machine.console.shared = True
        wait_for_signs_of_life(machine, system)
        machine.expect("linux", LINUX_PROMPT, BOOT_S)
        yield machine


def ask(machine: Machine, line: str, answer: str) -> re.Match[str]:
    """Runs a shell command in Linux, returns the match of `answer` in its output, and waits for the
    next prompt."""
    machine.skip("linux")
    machine.send(f"{line}\r")
    found = machine.expect("linux", answer, BOOT_S)
    machine.expect("linux", LINUX_PROMPT, BOOT_S)
    return found


def command(machine: Machine, key: str) -> None:
    """Types the console's escape key and then `key`."""
    machine.send(ESCAPE + key)


def keyboard(machine: Machine, name: str) -> None:
    """Gives the keyboard focus to a VM and waits for the console's confirmation."""
    number = machine.console.names.index(name) + 1
    machine.skip(HYPERVISOR)
    # Digits select VMs 1 to 9; `n` selects the next VM.
    for key in [str(min(number, 9)), *["n"] * (number - 9)]:
        command(machine, key)
    machine.expect(HYPERVISOR, rf"^keyboard: {name}$", SOON_S)


def tell(machine: Machine, name: str, line: str) -> None:
    """Types a line to a VM; expect() then searches only output printed after this call."""
    keyboard(machine, name)
    machine.skip(name)
    machine.send(f"{line}\r")


def caught(board: Board, deed: str, address: int) -> str:
    """What tests/guests/misbehave says when a deed of its ends in nothing."""
    return rf"^misbehave: caught exception {board.faults[deed]} stval 0x{address if board.tells_address else 0:x} "


def states(machine: Machine) -> dict[str, dict[str, str]]:
    """The console's VM list by name: state, vcpus, cpu (percent since the previous list), starts,
    restarts, last."""
    machine.skip(HYPERVISOR)
    command(machine, "l")
    rows = {}
    for number, name in enumerate(machine.console.names, 1):
        row = machine.expect(
            HYPERVISOR,
            rf"^(?P<mark>[* ]) +{number} {name} +(?P<state>[a-z]+) +(?P<vcpus>\d+/\d+) +(?P<cpu>\d+\.\d)% +"
            r"(?P<memory>\d+ [KM]B) +(?P<starts>\d+) +(?P<restarts>\d+) (?P<last>.*)$",
            SOON_S,
        )
        rows[name] = row.groupdict()
    return rows


def await_stopped(machine: Machine, name: str) -> None:
    """Waits until the VM list says that the VM is stopped, a moment after the report of its stop."""
    limit = Limit(machine.process.pid, SOON_S)
    while (found := states(machine)[name]["state"]) != "stopped":
        assert found == "stopping" and limit.left() > 0, f"{found}: {limit.words()}"


def heartbeats(machine: Machine, name: str) -> list[int]:
    """The numbers in all `alive` lines that the guest has printed so far."""
    return [
        int(found) for found in re.findall(r"^misbehave: alive (\d+)$", machine.console.finished(name), re.MULTILINE)
    ]


def seconds_up(machine: Machine, name: str = "freertos") -> list[int]:
    """The uptimes in seconds that FreeRTOS has printed so far."""
    return [int(found) for found in re.findall(r"^freertos: up (\d+) s,", machine.console.text(name), re.MULTILINE)]


def assert_well(machine: Machine, name: str = "freertos") -> None:
    """FreeRTOS has not failed a self-check or restarted, and its uptime has never decreased."""
    said = machine.console.text(name)
    assert "FAILED" not in said, said[-3000:]
    assert said.count("freertos: FreeRTOS V") == 1, f"{name} has restarted:\n{said[-3000:]}"
    counted = seconds_up(machine, name)
    # A delayed report prints the uptime at the time of printing.
    assert counted == sorted(counted), counted


def assert_undisturbed(machine: Machine, name: str = "freertos") -> None:
    """assert_well(), and FreeRTOS still runs: waits until it prints a further uptime."""
    before = seconds_up(machine, name)
    more = machine.wait_until(lambda: len(seconds_up(machine, name)) > len(before), SOON_S)
    assert more, f"{name} has fallen silent:\n{machine.console.text(name)[-1500:]}"
    assert_well(machine, name)


_RT_ROW = re.compile(
    r"^rtm: app (?P<id>\d+), \S+ us on hart (?P<hart>\d+): (?P<releases>\d+) releases, (?P<ended>\d+) ended, "
    r"(?P<missed>\d+) missed, (?P<overran>\d+) overran, response \d+/\d+/\d+\.\d us$",
    re.MULTILINE,
)


_marks = count()


def rt_list(machine: Machine) -> str:
    """
    The real-time manager's list of its apps. The marker that ends the list differs in each call:
    the console may redraw a line after a line of the hypervisor, and a redrawn old marker would end
    the new list too early.
    """
    mark = f"mark{next(_marks)}"
    tell(machine, "rtm", "list")
    tell(machine, "rtm", mark)
    machine.expect("rtm", rf"^rtm: no command '{mark}'; try help$", SOON_S)
    return machine.console.text("rtm").rpartition("list\n")[2]


def rt_rows(machine: Machine) -> dict[int, dict[str, int]]:
    """The manager's list of apps by id."""
    found = _RT_ROW.finditer(rt_list(machine))
    return {int(row["id"]): {key: int(row[key]) for key in row.groupdict()} for row in found}


def rt_start(machine: Machine, spec: str, command: str = "start") -> None:
    """Makes the manager start an app."""
    tell(machine, "rtm", f"{command} {spec}")
    machine.expect("rtm", r"^rtm: started$", SOON_S)


def rt_end(machine: Machine, number: int) -> None:
    tell(machine, "rtm", f"end {number}")
    machine.expect("rtm", r"^rtm: ended$", SOON_S)


def await_rt_release(machine: Machine, number: int) -> None:
    """Waits until a further job of the app has been released."""
    before = rt_rows(machine)[number]["releases"]
    assert machine.wait_until(lambda: rt_rows(machine)[number]["releases"] > before, SOON_S)


def returned(machine: Machine, name: str, command: str, what: str = "") -> list[int]:
    """The errors (and values) printed by a guest's command, in the line that begins with the
    command's name or `what`."""
    tell(machine, name, command)
    found = machine.expect(name, rf"^misbehave: {what or command.split()[0]} returned((?: -?\d+)+)\n", SOON_S)
    return [int(error) for error in found[1].split()]
