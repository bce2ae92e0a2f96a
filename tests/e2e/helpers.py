# SPDX-License-Identifier: Apache-2.0
"""
What the tests of the hypervisor share: their own systems (tests/e2e/systems), built each into a folder of its own, and
what a person at the console would do.

Folders of their own, because these systems are built with features hidden or with another compiler's hypervisor, and
none of that may be found in build/systems/demo by somebody who runs the demo afterwards.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fcntl import LOCK_EX, flock
from functools import cache
from itertools import count
from pathlib import Path

import pytest

from tessera.machine import HYPERVISOR, Machine
from tessera.runner import ROOT, BuiltSystem, find_qemu, iasim_command, load_system, system_command

SYSTEMS = Path(__file__).resolve().parent / "systems"
GUESTS = ROOT / "build" / "guests"
NEWER_QEMU = str(ROOT / "cache" / "qemu-new" / "qemu-system-riscv64")
HYPERVISOR_BIN = ROOT / "build" / "hyp" / "qemu-virt" / "tessera.bin"
OUT = ROOT / "build" / "e2e"
ESCAPE = "\x14"
AGAIN = r"starts again(?: in \d+ ms)?"  # what the console says of a VM that does, perhaps after a pause
LINUX_PROMPT = r"^linux:~# "
EVERY_FEATURE = "sstc,htinst,htimedelta,envcfg,svpbmt,svadu,zicbom,zicboz,zba,zbb,zbs,svinval,zawrs"
VIRTUAL = ("-icount", "shift=0,sleep=off", "-nic", "none")  # an instruction takes a nanosecond, sleep takes no time
# For several harts in virtual time. Under -icount QEMU lets a hart run to the next deadline of its clock, and one that
# waits for a lock spins for as long. A filter of a network that nothing uses has a deadline each TURN_US. QEMU 7.2
# gives other harts only what a busy one leaves of that (CAVEATS.md).
TURN_US = 10
TURNS = (
    "-netdev", "hubport,hubid=0,id=turns",
    "-object", f"filter-buffer,id=turn,netdev=turns,queue=all,interval={TURN_US}",
)  # fmt: skip
# Of the host's time, for things that take a moment. Seconds in which the machine waits for a CPU do not count; if the
# host gives it too few others, that is no failure (tessera.hosttime).
SOON_S = 60
BOOT_S = 180
ERROR_S = 60


# What `make test` hands down, of itself and of its variables (`export` in scripts/mk).
MAKES_OWN = {"MAKEFLAGS", "MAKELEVEL", "MFLAGS", "PORT", "SYSTEM", "WITHOUT", "GUEST_PATH", "VM", "CONSOLES"}


def clean_environment() -> dict[str, str]:
    """The environment as a person has it, who types `make` at a prompt."""
    return {key: value for key, value in os.environ.items() if key not in MAKES_OWN}


def run(command: list[str], timeout: float = 600, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a program to its end; it has no keyboard."""
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=timeout,
        env={**clean_environment(), **environment},
    )  # fmt: skip


@contextmanager
def alone_building() -> Iterator[None]:
    """Workers of one run (pytest-xdist) share what is built, and take turns in building it."""
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
    program = str(ROOT / "scripts" / "mkimage.py")
    return run([sys.executable, program, str(source), *arguments], PYTHONDONTWRITEBYTECODE="1")


def source_of(name: str) -> Path:
    """A system of the tests, or else one of those that people run."""
    ours = SYSTEMS / f"{name}.dts"
    return ours if ours.exists() else ROOT / "systems" / f"{name}.dts"


def whole_source(source: Path) -> str:
    """A system's text with that of the files that it includes."""
    text = source.read_text(encoding="utf-8")
    return re.sub(r'/include/ "([^"]+)"', lambda found: whole_source(source.parent / found[1]), text)


@cache
def _make_parts(name: str) -> None:
    listed = mkimage(source_of(name), "--guests", str(GUESTS.relative_to(ROOT)), "--list-files")
    assert listed.returncode == 0, listed.stderr
    make("image-parts", f"IMAGE_FILES={' '.join(listed.stdout.split())}")


@cache
def hypervisor_by(compiler: str) -> Path:
    """The hypervisor as this compiler makes it; not the one that is run otherwise."""
    folder = f"build/check/hyp-{compiler}"
    make("hyp", f"HYP_CC={compiler}", f"HYP_BUILD={folder}")
    return ROOT / folder / "tessera.bin"


@cache
def built(name: str, without: str = "", hypervisor: Path = HYPERVISOR_BIN) -> BuiltSystem:
    """A system, built once per session for each hypervisor and set of hidden features."""
    _make_parts(name)
    hidden = "least" if without == EVERY_FEATURE else without.replace(",", "-")
    other = "" if hypervisor == HYPERVISOR_BIN else hypervisor.parent.name
    folder = OUT / "systems" / "-".join(filter(None, (name, hidden, other)))
    where = ("--guests", str(GUESTS.relative_to(ROOT)), "--hypervisor", str(hypervisor), "--out", str(folder))
    with alone_building():
        done = mkimage(source_of(name), *where, "--without", without)
    assert done.returncode == 0, done.stderr
    return load_system(folder.name, OUT)


@cache
def built_with_harts(name: str, harts: int, changes: str = "", hypervisor: Path = HYPERVISOR_BIN) -> BuiltSystem:
    """
    A system with another number of harts, without virtual-time, which the builder refuses for several (a test gives
    them VIRTUAL and TURNS instead), and with further properties and nodes of the root node.
    """
    _make_parts(name)
    other = "" if hypervisor == HYPERVISOR_BIN else hypervisor.parent.name
    folder = OUT / "systems" / "-".join(filter(None, (name, f"{harts}-harts", other)))
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / f"{name}.dts"
    root = f"harts = <{harts}>; /delete-property/ virtual-time; {changes}"
    source.write_text(f'/include/ "{source_of(name)}"\n/ {{ {root} }};\n', encoding="utf-8")
    where = ("--guests", str(GUESTS.relative_to(ROOT)), "--hypervisor", str(hypervisor), "--out", str(folder))
    with alone_building():
        done = mkimage(source, *where)
    assert done.returncode == 0, done.stderr
    return load_system(folder.name, OUT)


@dataclass(frozen=True)
class Board:
    """What a guest sees that is not the same on all boards; addresses as a bare guest uses them."""

    architecture: str
    ram_base: int
    ram_end: int  # of a guest of guests/faulty
    image: int
    free: int  # memory that no guest of the tests uses
    hole: int
    low: int  # nothing is there, far from the hole
    uart: int
    no_vector: int  # where guests/faulty puts its vector of traps before a fatal one
    no_vector_pc: int
    shared: int
    faults: dict[str, int]  # the exception that the guest gets where nothing is
    tells_address: bool  # of those
    memory: list[str]  # of the three guests of trio, in the console's list


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


def on_every_board(*names: str) -> list:
    """
    Parameters: systems for qemu-virt as they are, and the first of them ported to each board of the other architecture,
    of which one is enough but for `make soak`.
    """
    part, generic = (f"{names[0]}@{board}" for board in MIPS_BOARDS)
    return [*names, part, pytest.param(generic, marks=pytest.mark.long)]


def board_of(name: str) -> Board:
    return MIPS if "@" in name else RISCV


# For other architectures' boards, which have one hart and little memory, and whose guests have one VCPU and no PLIC.
PORTED = (
    (r"harts = <\d+>", "harts = <1>"),
    (r'memory-size = <0x400000>;([^}]*?image = "faulty/)', r"memory-size = <0x10000>;\1"),
    ("memory-size = <0x400000>", "memory-size = <0x18000>"),
    (r"\n\s*(vcpus|message-interrupt) = <\d+>;", ""),
    (r"(\d+:\d+:\d+:\d+):1\b", r"\1:0"),  # an RT app's hart
    ("size = <0x200000>", "size = <0x4000>"),
    ("address = <0xa0000000>", "address = <0x10000000>"),
    ("mailbox=a0000000", "mailbox=90000000"),  # the same to a guest
)


@cache
def built_for(name: str, board: str) -> BuiltSystem:
    """A system of bare-metal guests for another architecture's board."""
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
    """A system by a name of on_every_board()."""
    system, _, board = name.partition("@")
    return built_for(system, board) if board else built(system)


def boot_command(system: BuiltSystem, cpu: str | None = None, qemu: str | None = None) -> list[str]:
    if system.data["iasim"]:
        return iasim_command(system)
    return system_command(find_qemu(qemu, cpu), system)


def for_iasim(arguments: tuple[str, ...]) -> tuple[str, ...]:
    """What stands for QEMU's arguments: time is virtual there unless it is asked not to be."""
    assert arguments in ((), VIRTUAL), arguments
    return () if arguments else ("--real-time",)


@contextmanager
def booted(
    system: BuiltSystem, label: str, *arguments: str, cpu: str | None = None, qemu: str | None = None
) -> Iterator[Machine]:
    """
    A machine for several tests; build/e2e/<label>.log keeps what it printed. `cpu` are flags, else those of CPU=;
    `qemu` is a program other than QEMU=. A system for the M5150 boots in iasim.
    """
    OUT.mkdir(parents=True, exist_ok=True)
    words = [*boot_command(system, cpu, qemu), *(for_iasim(arguments) if system.data["iasim"] else arguments)]
    with Machine(words, system.names, OUT / f"{label}.log") as machine:
        yield machine


def await_life(machine: Machine, system: BuiltSystem, timeout: float = BOOT_S) -> None:
    """
    Waits until each VM has given its sign of life; perhaps in two lines, for the console ends one that does not grow
    for a while, and a busy machine may not run a guest for so long.
    """
    for name, sign in system.awaited().items():
        machine.expect(name, r"\n?".join(map(re.escape, sign)), timeout)


@contextmanager
def booted_linux(name: str) -> Iterator[Machine]:
    """
    A machine of one VM, linux, at its shell's prompt. Its lines carry its name although it is alone: `shared` makes the
    parser look for that.
    """
    system = built(name)
    with booted(system, name) as machine:
        machine.console.shared = True
        await_life(machine, system)
        machine.expect("linux", LINUX_PROMPT, BOOT_S)
        yield machine


def ask(machine: Machine, line: str, answer: str) -> re.Match[str]:
    """What Linux's shell says to a command, as far as the regular expression matches it; then it is ready again."""
    machine.skip("linux")
    machine.send(f"{line}\r")
    found = machine.expect("linux", answer, BOOT_S)
    machine.expect("linux", LINUX_PROMPT, BOOT_S)
    return found


def command(machine: Machine, key: str) -> None:
    """The console's escape key, then `key`."""
    machine.send(ESCAPE + key)


def keyboard(machine: Machine, name: str) -> None:
    """Gives the keyboard to a VM, and sees that it has it."""
    number = machine.console.names.index(name) + 1
    machine.skip(HYPERVISOR)
    for key in [str(min(number, 9)), *["n"] * (number - 9)]:  # one digit each, then the next one
        command(machine, key)
    machine.expect(HYPERVISOR, rf"^keyboard: {name}$", SOON_S)


def tell(machine: Machine, name: str, line: str) -> None:
    """Types a line to a VM. What it says from then on is what expect() looks at."""
    keyboard(machine, name)
    machine.skip(name)
    machine.send(f"{line}\r")


def caught(board: Board, deed: str, address: int) -> str:
    """What guests/faulty says when a deed of its ends in nothing."""
    return rf"^faulty: caught exception {board.faults[deed]} stval 0x{address if board.tells_address else 0:x} "


def states(machine: Machine) -> dict[str, dict[str, str]]:
    """The console's list of VMs, by name: state, vcpus, cpu (percent since the last list), starts, restarts, last."""
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


def heartbeats(machine: Machine, name: str) -> list[int]:
    """The numbers after `alive` that a faulty guest has printed so far."""
    return [int(found) for found in re.findall(r"^faulty: alive (\d+)$", machine.console.finished(name), re.MULTILINE)]


def seconds_up(machine: Machine, name: str = "freertos") -> list[int]:
    """How long FreeRTOS says it has been up, each time it was said."""
    return [int(found) for found in re.findall(r"^freertos: up (\d+) s,", machine.console.text(name), re.MULTILINE)]


def assert_well(machine: Machine, name: str = "freertos") -> None:
    """FreeRTOS has never failed a check, nor started anew, nor counted wrong."""
    said = machine.console.text(name)
    assert "FAILED" not in said, said[-3000:]
    assert said.count("freertos: FreeRTOS V") == 1, f"{name} has restarted:\n{said[-3000:]}"
    counted = seconds_up(machine, name)
    assert counted == sorted(counted), counted  # a report that comes late tells the second that it is by then


def assert_undisturbed(machine: Machine, name: str = "freertos") -> None:
    """The same, and it goes on: it counts on from where it is now. Waits for that, up to five seconds."""
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
    All that the real-time manager says of its apps. What ends it is another word each time: a line that is drawn once
    more, because the hypervisor's came in between, would pass for the next.
    """
    mark = f"mark{next(_marks)}"
    tell(machine, "rtm", "list")
    tell(machine, "rtm", mark)
    machine.expect("rtm", rf"^rtm: no command '{mark}'; try help$", SOON_S)
    return machine.console.text("rtm").rpartition("list\n")[2]


def rt_rows(machine: Machine) -> dict[int, dict[str, int]]:
    """What the manager says of its apps, by id."""
    found = _RT_ROW.finditer(rt_list(machine))
    return {int(row["id"]): {key: int(row[key]) for key in row.groupdict()} for row in found}


def rt_start(machine: Machine, spec: str, command: str = "start") -> None:
    """The manager starts an app."""
    tell(machine, "rtm", f"{command} {spec}")
    machine.expect("rtm", r"^rtm: started$", SOON_S)


def rt_end(machine: Machine, number: int) -> None:
    tell(machine, "rtm", f"end {number}")
    machine.expect("rtm", r"^rtm: ended$", SOON_S)


def rt_goes_on(machine: Machine, number: int) -> None:
    """The app's jobs are released."""
    before = rt_rows(machine)[number]["releases"]
    assert machine.wait_until(lambda: rt_rows(machine)[number]["releases"] > before, SOON_S)


def returned(machine: Machine, name: str, command: str, what: str = "") -> list[int]:
    """The errors (and values) that a command of the faulty guest printed, after its own name or `what`."""
    tell(machine, name, command)
    found = machine.expect(name, rf"^faulty: {what or command.split()[0]} returned((?: -?\d+)+)\n", SOON_S)
    return [int(error) for error in found[1].split()]
