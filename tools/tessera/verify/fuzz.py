# SPDX-License-Identifier: Apache-2.0
"""
Runs of systems/fuzz.dts: an attacker makes random calls, and a witness checks that its own state
does not change. The attacker's log is read from the machine's memory, so that the last call is
known even when the machine hangs.
"""

import mmap
import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tessera.cheader import read_header
from tessera.run.hosttime import Limit
from tessera.run.machine import HYPERVISOR, Console, Machine
from tessera.run.runner import ROOT, BuiltSystem, Qemu, load_system, system_command
from tessera.run.virtualtime import By, virtual_time

ATTACKER, WITNESS, CLIENT = "attacker", "witness", "client"
OUT = ROOT / "build" / "fuzz"
HYPERVISOR_BIN = ROOT / "build" / "hyp" / "qemu-virt" / "tessera.bin"
ESCAPE = "\x14"
POLL_S = 0.25
LEAP = 1 << 24  # no counter of calls advances so far between two readings of the log
STALL_S = 60  # of real time, in which both the attacker and the witness must make progress
_HEADER = read_header("tests/guests/fuzz/fuzz_log.h")
LOG = _HEADER.records["fuzz_log"]
LOG_BASE = _HEADER.constant("FUZZ_LOG")  # its guest-physical address, in the shared region
SLOTS = ("hart 0", "hart 1", "app 0", "app 1", "app 2", "app 3")
KINDS = ("hypercalls", "SBI calls", "CSR accesses", "MMIO accesses", "other instructions")


@dataclass(frozen=True)
class Slot:
    """One stream of calls: the numbers of calls by kind, and the last call."""

    next: int
    made: tuple[int, ...]
    accepted: tuple[int, ...]
    kind: int
    instruction: int
    registers: tuple[int, ...]

    def counters(self) -> tuple[int, ...]:
        return (self.next, *self.made, *self.accepted)

    def last(self) -> str:
        """Describes the last call."""
        registers = " ".join(f"a{number}={value:#x}" for number, value in enumerate(self.registers))
        kind = KINDS[self.kind] if self.kind < len(KINDS) else "?"
        return f"call {self.next - 1}, of the {kind}, instruction {self.instruction:#010x}, {registers}"


@dataclass(frozen=True)
class Log:
    """The log of tests/guests/fuzz and its witness."""

    slots: tuple[Slot, ...]
    lives: int
    spins: int
    wrongs: int

    @property
    def calls(self) -> int:
        return sum(slot.next for slot in self.slots)

    def follows(self, before: "Log") -> bool:
        """False if a job of the attacker's accelerator has overwritten the log."""
        return all(
            0 <= now - then < LEAP
            for slot, earlier in zip(self.slots, before.slots, strict=True)
            for now, then in zip(slot.counters(), earlier.counters(), strict=True)
        )

    def made(self, kind: int) -> int:
        return sum(slot.made[kind] for slot in self.slots)

    def accepted(self, kind: int) -> int:
        return sum(slot.accepted[kind] for slot in self.slots)


def read_log(memory: Any, offset: int) -> Log:
    """Reads the log from the machine's memory. A number may be torn while it is written; the next
    read corrects that."""
    fields = {name: int(value) for name, value in LOG.unpack(memory, offset).items()}
    slots = tuple(_slot(fields, f"slots[{index}].") for index in range(len(SLOTS)))
    return Log(slots, fields["lives"], fields["spins"], fields["wrongs"])


def _slot(fields: dict[str, int], at: str) -> Slot:
    def array(name: str) -> tuple[int, ...]:
        return tuple(value for field, value in fields.items() if field.startswith(f"{at}{name}["))

    kind, instruction = fields[f"{at}kind"], fields[f"{at}instruction"]
    return Slot(fields[f"{at}next"], array("made"), array("accepted"), kind, instruction, array("a"))


class FuzzError(AssertionError):
    """A check failed; the text names the seed, the calls, and the command that repeats the run."""


@dataclass(frozen=True)
class Options:
    """The parameters of a run. `virtual`: in virtual time, on one hart, where every run is
    identical."""

    seed: int
    calls: int  # the run ends after this number
    virtual: bool = True
    hypervisor: Path = HYPERVISOR_BIN
    seconds: float = 3600.0  # the run ends after this real time, too
    accelerators: bool = False  # the attacker has two, beside a VM that uses one at a higher priority
    arguments: tuple[str, ...] = ()  # additional arguments for QEMU

    @property
    def label(self) -> str:
        kind = "" if self.virtual else "-two"
        other = "" if self.hypervisor == HYPERVISOR_BIN else f"-{self.hypervisor.parent.name}"
        fabric = "-accel" if self.accelerators else ""
        return f"seed-{self.seed}{kind}{fabric}{other}"


# On two harts time is real, and the host may be busy: a longer watchdog.
_SYSTEM = """// SPDX-License-Identifier: Apache-2.0
/include/ "{base}"

/ {{
	harts = <{harts}>;

	vms {{
		attacker {{
			bootargs = "seed={seed}";
			watchdog-ms = <{watchdog_ms}>;
		}};

		witness {{
			bootargs = "vm=1 fp=1 noisy=1 log=1 real={real}";
		}};
	}};
}};
"""

# The second device's task misbehaves on command (fpga/verify/sim/hwtask_probe.sv). hold-us is longer than a VM
# waits for its slice.
_ACCELERATORS = """
/ {
	accelerators {
		hold-us = <5000>;
		stop-us = <20>;

		qam16 {
			task = <1>;
			regions = <0>;
			bitstreams = "simb/1-0.bin";
		};

		probe {
			task = <7>;
			regions = <0>;
			bitstreams = "simb/7-0.bin";
		};

		aes128 {
			task = <5>;
			regions = <1>;
			bitstreams = "simb/5-1.bin";
		};

		overlays {
			spare {
				regions = <1>;
				devices = "aes128";
			};

			foreign {
				regions = <0>;
				devices = "probe";
			};
		};
	};

	vms {
		attacker {
			accelerator-monitor;
			overlays = "spare";

			accelerators {
				qam16 {
				};

				probe {
				};
			};
		};

		client {
			memory-size = <0x400000>;
			image = "accel_faults/accel_faults.bin";
			bootargs = "mode=steady";
			sign-of-life = "accel: ";
			overlays = "foreign";

			accelerators {
				qam16 {
					priority = <7>;
				};
			};
		};
	};
};
"""


def build(options: Options) -> BuiltSystem:
    """Builds systems/fuzz.dts with a seed; the hypervisor and the guests must have been built."""
    folder = OUT / "systems" / options.label
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "fuzz.dts"
    words = (
        {"harts": 1, "watchdog_ms": 20, "real": 0} if options.virtual else {"harts": 2, "watchdog_ms": 500, "real": 1}
    )
    text = _SYSTEM.format(base=ROOT / "systems" / "fuzz.dts", seed=options.seed, **words)
    source.write_text(text + (_ACCELERATORS if options.accelerators else ""))
    where = ["--guests", "build/guests:build/fpga", "--hypervisor", str(options.hypervisor), "--out", str(folder)]
    command = [sys.executable, str(ROOT / "tools" / "mkimage.py"), str(source), *where]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise FuzzError(f"the system cannot be built: {done.stderr}")
    return load_system(options.label, OUT)


def console_error(console: Console) -> str | None:
    """Returns a message if a finished line shows an error: the beginning of a line does not tell
    whose error it is."""
    said = console.finished(HYPERVISOR)
    if found := re.search(
        r"^(?:error: (?!attacker: the (?:job|task) of ).*|(?:witness|freertos|client) stopped.*)$", said, re.MULTILINE
    ):
        return f"the hypervisor says: {found[0]}"
    if found := re.search(r"^accel: \d+ jobs, [1-9]\d* wrong$", console.finished(CLIENT), re.MULTILINE):
        return f"the client of an accelerator says: {found[0]}"
    if "FAILED" in console.finished("freertos"):
        return "FreeRTOS has failed its self-check"
    return None


class Run:
    """A machine with the attacker and the witness."""

    def __init__(self, options: Options, machine: Machine, read: Callable[[], Log]) -> None:
        self.options = options
        self.machine = machine
        self._read = read
        self._restarts = 0
        self._progress = {who: (0, self._stall_limit()) for who in ("the attacker", "the witness")}

    def _stall_limit(self) -> Limit:
        return Limit(self.machine.process.pid, STALL_S)

    def _stalled(self, log: Log) -> str | None:
        """Returns a message if the attacker or the witness makes no progress."""
        for who, count in (("the attacker", log.calls), ("the witness", log.spins)):
            before, limit = self._progress[who]
            if count != before:
                self._progress[who] = (count, self._stall_limit())
            elif limit.left() == 0:
                return f"{who} has made no progress for {STALL_S} s ({limit.words()})"
        return None

    def _restart_attacker(self) -> None:
        """Starts the attacker again after it has shut itself down, by the operator's key on the
        console."""
        said = "\n".join(self.machine.console.lines[HYPERVISOR])  # finished lines only
        off = len(re.findall(rf"^{ATTACKER} stopped (?!.*starts again).*$", said, re.MULTILINE))
        if off > self._restarts:
            self._restarts += 1
            self.machine.send(f"{ESCAPE}g")

    def _wrong(self, log: Log) -> str | None:
        if log.wrongs:
            found = re.findall(r"^leak: WRONG.*$", self.machine.console.text(WITNESS), re.MULTILINE)
            return f"the witness has found {log.wrongs} wrong values: {found[-1:] or 'not printed yet'}"
        if error := console_error(self.machine.console):
            return error
        if not self.machine.running:
            return f"QEMU has ended with status {self.machine.status(5)}"
        return self._stalled(log)

    def _fail(self, why: str, log: Log) -> FuzzError:
        self.machine.wait_until(lambda: False, 2)  # wait for more output of the console
        replay = f"make fuzz SEED={self.options.seed} CALLS={log.calls + 1000}" + (
            ("" if self.options.virtual else " HARTS=2") + (" ACCELERATORS=1" if self.options.accelerators else "")
        )
        streams = [f"  {name}: {slot.last()}" for name, slot in zip(SLOTS, log.slots, strict=True) if slot.next]
        lines = [f"  {line[:160]}" for line in self.machine.console.last(HYPERVISOR, 20)]
        return FuzzError(
            "\n".join([f"seed {self.options.seed}: {why}", *streams, "the hypervisor:", *lines, f"again: {replay}"])
        )

    def go(self) -> Log:
        """Runs until the number of calls is reached, or the attacker's accelerator overwrites the
        log. Raises FuzzError when a check fails."""
        end = time.monotonic() + self.options.seconds
        log = self._read()
        while True:
            self.machine.wait_until(lambda: False, POLL_S)
            before, log = log, self._read()
            if not log.follows(before):
                return before
            if why := self._wrong(log):
                raise self._fail(why, log)
            if log.calls >= self.options.calls or time.monotonic() > end:
                return log
            self._restart_attacker()


def attack(options: Options, qemu: Qemu, at_end: Callable[[Machine], None] = lambda machine: None) -> Log:
    """
    Boots the system and runs the attacker; at the end calls `at_end` with the machine. Raises
    FuzzError when a check fails.
    """
    system = build(options)
    size = system.data["qemu"]["memory_mib"] << 20
    ram = OUT / f"{options.label}.ram"
    with ram.open("wb") as file:
        file.truncate(size)
    backend = f"memory-backend-file,id=ram,size={size},mem-path={ram},share=on"
    words = [*system_command(qemu, system), "-object", backend, "-machine", "memory-backend=ram"]
    words += [*(virtual_time(By.COMMAND) if options.virtual else ("-nic", "none")), *options.arguments]
    shared = system.data["shared"][0]["memory"]
    offset = shared["host"] - system.data["ram"]["base"] + LOG_BASE - shared["base"]
    try:
        with (
            ram.open("rb") as read,
            mmap.mmap(read.fileno(), size, access=mmap.ACCESS_READ) as memory,
            Machine(words, system.names, OUT / f"{options.label}.log") as machine,
        ):
            log = Run(options, machine, lambda: read_log(memory, offset)).go()
            at_end(machine)
            return log
    finally:
        ram.unlink()


def report(options: Options, log: Log, seconds: float) -> str:
    """Returns one line with the numbers of calls by kind, and how many of them were accepted."""
    kinds = ", ".join(f"{log.made(kind)} {name} ({log.accepted(kind)} accepted)" for kind, name in enumerate(KINDS))
    return (
        f"fuzz: seed {options.seed}: {log.calls} calls in {seconds:.0f} s: {kinds}; "
        f"{log.lives} lives; {log.spins} checks by the witness"
    )
