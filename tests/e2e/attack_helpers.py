# SPDX-License-Identifier: Apache-2.0
"""
The hostile guest beside its witnesses (tests/e2e/systems/faults.dts): attacks run one by one, and after each
everything that must hold is looked at. Whoever finds that it does not raises AssertionError.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from helpers import AGAIN, HYPERVISOR_BIN, OUT, SOON_S, booted, built, command, states

from tessera.bench_metrics import read_metrics
from tessera.bench_worst import ROOM, Inspection, Worst, table
from tessera.machine import HYPERVISOR, Machine
from tessera.runner import ROOT, BuiltSystem, find_qemu

_MENU = ROOT / "guests" / "faults" / "attacker" / "riscv" / "attacks.def"
TABLE = OUT / "faults"  # one file for each machine's attacks
_FACTOR, _SUMMAND, _WORD = 6364136223846793005, 1442695040888963407, (1 << 64) - 1
_WITNESS = re.compile(r"^witness: (\d+) rounds, sum 0x([0-9a-f]+), (\d+) wrong$", re.MULTILINE)
_TICKER = re.compile(
    r"^ticker: (\d+) interrupts, late (\d+); (\d+) releases, late (\d+), ever (\d+), missed (-?\d+); "
    r"(\d+) messages, (\d+) wrong$",
    re.MULTILINE,
)
_ENTRY = re.compile(r'^ATTACK\((\w+), (\w+), "([^"]*)"', re.MULTILINE)

HANG_LINES = 4  # of the ticker, 5 ms each: for so long an attack that hangs is left alone
# Ticks of 100 instructions: rt-blocked-ns and rt-release-ns of the board, and the tick that a release may be behind its
# moment.
LATE_TICKS = 26
# Without Sstc the hypervisor's timer is the firmware's: a call each time that it is set, an interrupt by way of it.
FIRMWARE_TICKS = 20
# Newer firmware prints something about each illegal instruction of the SYSTEM opcode, with everything else waiting
# (CAVEATS.md): rt-firmware-ns instead of rt-blocked-ns, which is what admission counts.
PRINTED = re.compile("csr_.*|system_instructions.*|guest_accesses.*|virtual_forever")
PRINTED_TICKS = 91
# The turns of all other VCPUs before one gets its own: the attacker's two, the witness's, and what apps take.
TURNS_TICKS = 3 * 10_000 + 5_000


@dataclass(frozen=True)
class Attack:
    number: int
    name: str
    ends: str
    must: str


def menu() -> list[Attack]:
    """The attacks by number, from the guest's source."""
    found = _ENTRY.findall(_MENU.read_text(encoding="utf-8"))
    return [Attack(number, *words) for number, words in enumerate(found)]


@dataclass(frozen=True)
class Outcome:
    """What an attack came to: the attacker's words, what the witness did meanwhile, how late the ticker was."""

    attack: Attack
    got: str
    rounds: int
    late: int  # most ticks that a release of the ticker's app was late
    waited: int  # most ticks that the ticker waited for its turn

    def row(self) -> str:
        a = self.attack
        return f"{a.number:3} {a.name:<25} {a.must:<55} {self.got:<32} {self.rounds:>6} {self.late:>5} {self.waited:>6}"


HEAD = (
    f"{'':3} {'attack':<25} {'must get':<55} {'got':<32} {'rounds':>6} {'late':>5} {'turn':>6}\n"
    "(rounds: of the witness meanwhile, none wrong; late: ticks of 100 instructions that the ticker's app was released "
    "late; turn: ticks that the ticker waited for its turn)"
)


class Lateness:
    """What the ticker says of how late it was: each of its lines is one attack's, and so judged once."""

    def __init__(self, late_ticks: int | None) -> None:
        self.late_ticks = late_ticks  # None: time means nothing on this machine
        self._judged = 0  # characters
        self._ever = 0

    def judge(self, name: str, text: str) -> tuple[int, int]:
        """
        The most ticks that the app's releases were late and that the ticker waited, since the attack before was judged.
        A line that the console has broken tells nothing, but `ever` grows if it would have told the most.
        """
        lines = list(_TICKER.finditer(text, self._judged))
        ever = int(lines[-1][5])
        late, waited = max(int(line[4]) for line in lines), max(int(line[2]) for line in lines)
        late = max(late, ever if ever > self._ever else 0)
        self._judged, self._ever = lines[-1].end(), ever
        if self.late_ticks is not None:
            bound = PRINTED_TICKS if PRINTED.fullmatch(name) else self.late_ticks
            assert late <= bound, f"the ticker's app was late by {late} ticks"
            assert waited <= TURNS_TICKS, f"the ticker waited {waited} ticks for its turn"
        return late, waited


class Arena:
    """A machine with the three guests."""

    def __init__(
        self, machine: Machine, patience: float, late_ticks: int | None, inspection: Inspection | None
    ) -> None:
        self.machine = machine
        self.inspection = inspection
        self.patience = patience  # seconds to wait for anything
        self.lateness = Lateness(late_ticks)
        self.sum, self.rounds = 1, 0  # of the witness, as we have recomputed them
        self.ready()

    def ready(self) -> None:
        self.machine.expect("attacker", r"^faults: ready$", self.patience)

    def _fresh(self, name: str, pattern: re.Pattern[str]) -> re.Match[str]:
        """A whole line that `name` began to say from now on."""
        self.machine.skip(name)
        self.machine.expect(name, "\n", self.patience)
        return self.machine.expect(name, pattern.pattern, self.patience)

    def _check_witness(self) -> int:
        """It is right to the last bit, and goes on. Its rounds."""
        said = self._fresh("witness", _WITNESS)
        rounds, total, wrong = int(said[1]), int(said[2], 16), int(said[3])
        assert wrong == 0, f"the witness has found {wrong} wrong: {said[0]}"
        assert rounds > self.rounds, f"the witness has gone back: {said[0]} after {self.rounds}"
        for _ in range(rounds - self.rounds):
            self.sum = (self.sum * _FACTOR + _SUMMAND) & _WORD
        self.rounds = rounds
        assert total == self.sum, f"the witness has counted wrong: {said[0]}, not {self.sum:#x}"
        return rounds

    def _check_ticker(self, attack: Attack) -> tuple[int, int]:
        """It has missed nothing and was never late. The most that it was since the attack before."""
        said = self._fresh("ticker", _TICKER)
        assert said[8] == "0", f"the ticker got messages that nobody sent: {said[0]}"
        if self.lateness.late_ticks is not None:
            assert said[6] == "0", f"the ticker's app has missed deadlines: {said[0]}"
        return self.lateness.judge(attack.name, self.machine.console.text("ticker"))

    def _check_console(self) -> None:
        """The hypervisor answers, and nobody but the attacker has ever started anew."""
        rows = states(self.machine)
        for name in ("witness", "ticker"):
            row = rows[name]
            assert (row["state"], row["starts"], row["restarts"]) == ("running", "1", "0"), row

    def run(self, attack: Attack) -> Outcome:
        machine = self.machine
        before = self.rounds
        machine.skip(HYPERVISOR)
        machine.skip("attacker")
        machine.send(f"{attack.number}\r")
        machine.expect("attacker", rf"^faults: {attack.number} {attack.name} begins", self.patience)
        got = getattr(self, f"_end_{attack.ends.lower()}")(attack)
        rounds = self._check_witness()
        late, waited = self._check_ticker(attack)
        self._check_console()
        return Outcome(attack, got, rounds - before, late, waited)

    def _end_returns(self, attack: Attack) -> str:
        said = self.machine.expect(
            "attacker", rf"^faults: {attack.number} {attack.name}: ((as it must, \d+ tried|WRONG).*)\n", self.patience
        )
        assert "WRONG" not in said[1], said[0]
        self.machine.expect(HYPERVISOR, r"^attacker stopped by its own reset, starts again$", self.patience)
        self.ready()
        return said[1]

    def _end_stops(self, _attack: Attack) -> str:
        said = self.machine.expect(HYPERVISOR, r"^attacker vcpu (\d+): (.*): cause (\d+)", self.patience)
        self.machine.expect(HYPERVISOR, rf"^attacker stopped by a fatal trap, {AGAIN}$", self.patience)
        self.ready()
        return f"stopped: {said[2]}"

    def _end_hangs(self, attack: Attack) -> str:
        """It goes on for some time, with nobody disturbed, until the console restarts it."""
        if attack.name == "reset_forever":
            return self._end_resets()
        for _ in range(HANG_LINES):
            self._fresh("ticker", _TICKER)
        said = self.machine.console.text("attacker").rpartition(" begins")[2].partition("\n")[2]
        assert said.strip() == "", f"it should be silent and says {said}"
        assert states(self.machine)["attacker"]["state"] == "running"
        self._restart("r")
        return "restarted by the console"

    def _end_resets(self) -> str:
        self.machine.expect("attacker", r"^faults: (\d+) resets done$", self.patience)
        self.ready()
        return "60 new lives"

    def _end_off(self, _attack: Attack) -> str:
        said = self.machine.expect(HYPERVISOR, r"^attacker stopped (b.*)\n", self.patience)
        assert states(self.machine)["attacker"]["state"] == "stopped"
        self._restart("g")
        return f"stopped {said[1]}"

    def _restart(self, key: str) -> None:
        self.machine.skip("attacker")
        command(self.machine, key)
        self.ready()


def untimed(system: BuiltSystem) -> BuiltSystem:
    """The same on a machine whose time is the host's."""
    words = system.data["qemu"]["arguments"]
    if "-icount" not in words:
        return system
    at = words.index("-icount")
    return replace(
        system, data=system.data | {"qemu": system.data["qemu"] | {"arguments": words[:at] + words[at + 2 :]}}
    )


def write_table(label: str, outcomes: Iterable[str]) -> None:
    TABLE.mkdir(parents=True, exist_ok=True)
    (TABLE / f"{label}.txt").write_text("".join(f"{row}\n" for row in [HEAD, *outcomes]), encoding="utf-8")


class Arenas:
    """
    One machine after the other with the same label: the next attack gets another if the last one has failed. Keeps the
    table of what came of the attacks.
    """

    def __init__(self, label: str, **how: Any) -> None:
        self.label, self.how = label, how
        self.rows: dict[int, str] = {}
        self._stack = ExitStack()
        self._arena: Arena | None = None

    def run(self, attack: Attack) -> None:
        self.rows[attack.number] = f"{attack.number:3} {attack.name:<25} {attack.must:<55} FAILED"
        try:
            if self._arena is None:
                self._arena = self._stack.enter_context(arena(self.label, **self.how))
            self.rows[attack.number] = self._arena.run(attack).row()
        except AssertionError:
            self.close()
            raise

    def close(self) -> None:
        self._stack.close()
        self._arena = None
        write_table(self.label, (self.rows[number] for number in sorted(self.rows)))

    def worst(self) -> Worst:
        """What the hypervisor took for all that, at most; the machine ends."""
        assert self._arena is not None, "there is no machine whose attacks all went well"
        assert self._arena.inspection is not None
        worst = self._arena.inspection.end(self._arena.machine)
        worst.write(TABLE / f"{self.label}-worst.json")
        (TABLE / f"{self.label}-worst.txt").write_text(table(worst.stretches, 20), encoding="utf-8")
        return worst


@contextmanager
def arena(
    label: str = "faults",
    hypervisor: Path = HYPERVISOR_BIN,
    patience: float = 60,
    cpu: str | None = None,
    counted: bool = True,
    name: str = "faults",
    without: str = "",
) -> Iterator[Arena]:
    """
    A booted machine; without `counted` its time is the host's, and nothing is said about how late anybody is. The
    hypervisor believes that features are missing which `without` names.
    """
    system = built(name, without, hypervisor)
    if not counted:
        with booted(untimed(system), label, cpu=cpu) as machine:
            yield Arena(machine, patience, None, None)
        return
    inspection = Inspection(find_qemu(cpu_flags=cpu), hypervisor.with_suffix(".elf"), TABLE / label)
    with booted(system, label, *inspection.arguments, cpu=cpu) as machine:
        yield Arena(machine, patience, LATE_TICKS + (FIRMWARE_TICKS if cpu else 0), inspection)


MENU = menu()
UNTIMED = {"vector_unmapped"}  # the hart goes round without an instruction: counted time would stand still


def arenas(label: str, **how: object) -> Iterator[Arenas]:
    """For a module's fixture: the machines of its attacks, ended with it."""
    machines = Arenas(label, patience=SOON_S, **how)
    yield machines
    machines.close()


def some(attacks: list[Attack]) -> pytest.MarkDecorator:
    """The attacks that a test tries, one by one."""
    return pytest.mark.parametrize("attack", attacks, ids=lambda attack: attack.name)


def check_worst(machines: Arenas) -> None:
    """After all attacks, of which there were enough: not without a look at interrupts, nor down the stack, too far."""
    worst = machines.worst()
    assert len(worst.stretches) > 20
    assert worst.stretches[0].most <= read_metrics()["riscv.irqoff.max"].goal, worst.stretches[0]
    assert 256 < worst.stack <= ROOM // 2
