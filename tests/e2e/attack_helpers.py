# SPDX-License-Identifier: Apache-2.0
"""
Runs the attacks of the hostile guest one by one (tests/e2e/systems/attacker.dts) and checks after
each attack that the witness VM, the ticker VM and the console are undisturbed. A failed check
raises AssertionError.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from helpers import AGAIN, HYPERVISOR_BIN, OUT, SOON_S, await_stopped, booted, built, command, states

from tessera.bench.metrics import read_metrics
from tessera.bench.worst import USABLE_STACK, Inspection, Worst, table
from tessera.run.machine import HYPERVISOR, Machine
from tessera.run.runner import ROOT, BuiltSystem, find_qemu

_MENU = ROOT / "tests" / "guests" / "attacker" / "riscv" / "attacks.def"
TABLE = OUT / "attacks"  # one file per machine
_FACTOR, _SUMMAND, _WORD = 6364136223846793005, 1442695040888963407, (1 << 64) - 1
_WITNESS = re.compile(r"^witness: (\d+) rounds, sum 0x([0-9a-f]+), (\d+) wrong$", re.MULTILINE)
_TICKER = re.compile(
    r"^ticker: (\d+) interrupts, late (\d+); (\d+) releases, late (\d+), ever (\d+), missed (-?\d+); "
    r"(\d+) messages, (\d+) wrong, (\d+) of others$",
    re.MULTILINE,
)
_CLIENT = re.compile(r"^accel: (\d+) jobs, (\d+) wrong$", re.MULTILINE)
# Of a VM whose disk the attacker serves.
VICTIM = re.compile(r"^disk_victim: (\d+) done, (\d+) failed, (\d+) given up$", re.MULTILINE)
PEERS = re.compile(r"^peers: (\d+) rounds, (\d+) wrong, (\d+) again$", re.MULTILINE)
_ENTRY = re.compile(r'^ATTACK\((\w+), (\w+), "([^"]*)"', re.MULTILINE)

HANG_LINES = 2  # lines of the ticker, 5 ms apart, for which an attack that hangs is left running
# In ticks of 100 instructions: rt-blocked-ns plus rt-release-ns of the board, plus one tick of
# timer granularity.
LATE_TICKS = 26
# Without Sstc the hypervisor uses the firmware's timer: each programming is an SBI call, each
# interrupt passes M-mode.
FIRMWARE_TICKS = 20
# Newer firmware prints a message for each illegal SYSTEM instruction and blocks the hart meanwhile
# (CAVEATS.md). The bound is then rt-firmware-ns instead of rt-blocked-ns, as in admission.
PRINTED = re.compile("csr_.*|system_instructions.*|guest_accesses.*|virtual_forever")
PRINTED_TICKS = 91
# Longest wait for a slice: one quantum for each of the attacker's two VCPUs and the witness, plus
# the apps' budgets.
TURNS_TICKS = 3 * 10_000 + 5_000
CHECKED = {"witness", "ticker", "client", "ask"}  # VMs whose next lines say that an attack has not disturbed them
OTHERS = {"victim", "ask", "answer", "storage"}  # VMs that use virtual PCI functions
OTHER_TICKS = 10_000  # more for each of them


@dataclass(frozen=True)
class Attack:
    number: int
    name: str
    ends: str
    must: str


def check_peers(machine: Machine) -> None:
    """The data that the guests ask and answer exchange from now on are right, those of the disk of ask among them."""
    machine.skip("ask")
    for _ in range(2):
        assert machine.expect("ask", PEERS.pattern, SOON_S)[2] == "0"


def menu() -> list[Attack]:
    """The attacks by number, parsed from the guest's source."""
    found = _ENTRY.findall(_MENU.read_text(encoding="utf-8"))
    return [Attack(number, *words) for number, words in enumerate(found)]


@dataclass(frozen=True)
class Outcome:
    """The outcome of an attack: the attacker's report, the witness's progress and the ticker's
    lateness."""

    attack: Attack
    got: str
    rounds: int
    late: int  # maximum release lateness of the ticker's app, in ticks
    waited: int  # maximum time that the ticker waited for its slice, in ticks

    def row(self) -> str:
        a = self.attack
        return f"{a.number:3} {a.name:<25} {a.must:<55} {self.got:<32} {self.rounds:>6} {self.late:>5} {self.waited:>6}"


HEAD = (
    f"{'':3} {'attack':<25} {'expected':<55} {'actual':<32} {'rounds':>6} {'late':>5} {'wait':>6}\n"
    "(rounds: completed by the witness during the attack, all correct; late: release lateness of the ticker's app in "
    "ticks of 100 instructions; wait: ticks that the ticker waited for its slice)"
)


class Lateness:
    """Evaluates the lateness that the ticker prints. Each line belongs to one attack and is
    evaluated once."""

    def __init__(self, late_ticks: int | None, turns_ticks: int = TURNS_TICKS) -> None:
        # None: no bound, since the machine does not run in virtual time.
        self.late_ticks = late_ticks
        self.turns_ticks = turns_ticks
        self._judged = 0  # characters of the ticker's output evaluated so far
        self._ever = 0

    def judge(self, name: str, text: str) -> tuple[int, int]:
        """
        Checks the maximum release lateness and the maximum wait since the previous attack, and
        returns both in ticks. A line split by the console is not parsed; the all-time maximum
        (`ever`) in a later line still covers it.
        """
        lines = list(_TICKER.finditer(text, self._judged))
        ever = int(lines[-1][5])
        late, waited = max(int(line[4]) for line in lines), max(int(line[2]) for line in lines)
        late = max(late, ever if ever > self._ever else 0)
        self._judged, self._ever = lines[-1].end(), ever
        if self.late_ticks is not None:
            bound = PRINTED_TICKS if PRINTED.fullmatch(name) else self.late_ticks
            assert late <= bound, f"the ticker's app was released {late} ticks late"
            assert waited <= self.turns_ticks, f"the ticker waited {waited} ticks for its slice"
        return late, waited


class AttackMachine:
    """A machine with the attacker, the witness and the ticker."""

    def __init__(
        self, machine: Machine, patience: float, late_ticks: int | None, inspection: Inspection | None
    ) -> None:
        self.machine = machine
        self.inspection = inspection
        self.patience = patience  # timeout of each wait, in seconds
        others = OTHERS & set(machine.console.names)
        self.lateness = Lateness(late_ticks, TURNS_TICKS + OTHER_TICKS * len(others))
        self.sum, self.rounds = 1, 0  # the witness's state, recomputed here
        self.jobs = 0  # of the VM that uses an accelerator
        self.exchanges = 0  # of the VMs that exchange data by virtual PCI functions
        self.ready()
        if "ask" in machine.console.names:
            machine.expect("ask", PEERS.pattern, self.patience)

    def ready(self) -> None:
        self.machine.expect("attacker", r"^attacker: ready$", self.patience)

    def _fresh(self, name: str, pattern: re.Pattern[str]) -> re.Match[str]:
        """The first line of `name` that matches and began after the last skip()."""
        self.machine.expect(name, "\n", self.patience)
        return self.machine.expect(name, pattern.pattern, self.patience)

    def _check_witness(self) -> int:
        """The witness's sum is correct and it has made progress. Returns its rounds."""
        said = self._fresh("witness", _WITNESS)
        rounds, total, wrong = int(said[1]), int(said[2], 16), int(said[3])
        assert wrong == 0, f"the witness reports {wrong} errors: {said[0]}"
        assert rounds > self.rounds, f"the witness made no progress: {said[0]} after {self.rounds}"
        for _ in range(rounds - self.rounds):
            self.sum = (self.sum * _FACTOR + _SUMMAND) & _WORD
        self.rounds = rounds
        assert total == self.sum, f"the witness's sum is wrong: {said[0]}, expected {self.sum:#x}"
        return rounds

    def _check_ticker(self, attack: Attack) -> tuple[int, int]:
        """The ticker's app missed no deadline. Returns the maximum lateness and wait since the
        previous attack."""
        said = self._fresh("ticker", _TICKER)
        assert (said[8], said[9]) == ("0", "0"), f"the ticker received unexpected messages: {said[0]}"
        if self.lateness.late_ticks is not None:
            assert said[6] == "0", f"the ticker's app missed deadlines: {said[0]}"
        return self.lateness.judge(attack.name, self.machine.console.text("ticker"))

    def _check_client(self) -> None:
        """The VM that uses an accelerator at a higher priority, if there is one, gets right results."""
        if "client" in self.machine.console.names:
            said = self._fresh("client", _CLIENT)
            assert said[2] == "0", f"the client's jobs are wrong: {said[0]}"
            assert int(said[1]) > self.jobs, f"the client made no progress: {said[0]} after {self.jobs}"
            self.jobs = int(said[1])

    def _check_peers(self) -> None:
        """The data of the VMs that use the same network, socket and disks arrive, all and right."""
        if "ask" in self.machine.console.names:
            said = self._fresh("ask", PEERS)
            assert said[2] == "0", f"the peers' data are wrong: {said[0]}"
            assert int(said[1]) > self.exchanges, f"the peers made no progress: {said[0]} after {self.exchanges}"
            self.exchanges = int(said[1])

    def _check_victim(self) -> None:
        """The VM whose disk the attacker serves has errors of its disk at most."""
        if "victim" in self.machine.console.names:
            said = self.machine.console.text("victim")
            assert "wrong" not in said, said[-300:]

    def _check_console(self) -> None:
        """The console responds, and no VM except the attacker has ever restarted."""
        rows = states(self.machine)
        for name in set(self.machine.console.names) - {"attacker"}:
            row = rows[name]
            assert (row["state"], row["starts"], row["restarts"]) == ("running", "1", "0"), row

    def run(self, attack: Attack) -> Outcome:
        machine = self.machine
        before = self.rounds
        machine.skip(HYPERVISOR)
        machine.skip("attacker")
        machine.send(f"{attack.number}\r")
        machine.expect("attacker", rf"^attacker: {attack.number} {attack.name} begins", self.patience)
        got = getattr(self, f"_end_{attack.ends.lower()}")(attack)
        for name in CHECKED & set(machine.console.names):  # all of them before the first wait: the waits overlap
            machine.skip(name)
        rounds = self._check_witness()
        late, waited = self._check_ticker(attack)
        self._check_client()
        self._check_peers()
        self._check_victim()
        self._check_console()
        return Outcome(attack, got, rounds - before, late, waited)

    def _end_returns(self, attack: Attack) -> str:
        said = self.machine.expect(
            "attacker",
            rf"^attacker: {attack.number} {attack.name}: ((as expected, \d+ tried|WRONG).*)\n",
            self.patience,
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
        """The attacker keeps running without disturbing other VMs until the console restarts it."""
        if attack.name == "reset_forever":
            return self._end_resets()
        for _ in range(HANG_LINES):
            self.machine.skip("ticker")
            self._fresh("ticker", _TICKER)
        said = self.machine.console.text("attacker").rpartition(" begins")[2].partition("\n")[2]
        assert said.strip() == "", f"unexpected output of the attacker: {said}"
        assert states(self.machine)["attacker"]["state"] == "running"
        self._restart("r")
        return "restarted by the console"

    def _end_resets(self) -> str:
        self.machine.expect("attacker", r"^attacker: (\d+) resets done$", self.patience)
        self.ready()
        return "60 restarts"

    def _end_off(self, _attack: Attack) -> str:
        said = self.machine.expect(HYPERVISOR, r"^attacker stopped (b.*)\n", self.patience)
        await_stopped(self.machine, "attacker")
        self._restart("g")
        return f"stopped {said[1]}"

    def _restart(self, key: str) -> None:
        self.machine.skip("attacker")
        command(self.machine, key)
        self.ready()


def untimed(system: BuiltSystem) -> BuiltSystem:
    """The same system in host time instead of virtual time."""
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


class AttackMachines:
    """Boots a machine on demand and replaces it after a failed attack; collects the table of
    outcomes."""

    def __init__(self, label: str, **how: Any) -> None:
        self.label, self.how = label, how
        self.rows: dict[int, str] = {}
        self._stack = ExitStack()
        self._current: AttackMachine | None = None

    def run(self, attack: Attack) -> None:
        self.rows[attack.number] = f"{attack.number:3} {attack.name:<25} {attack.must:<55} FAILED"
        try:
            if self._current is None:
                self._current = self._stack.enter_context(attack_machine(self.label, **self.how))
            self.rows[attack.number] = self._current.run(attack).row()
        except AssertionError:
            self.close()
            raise

    def close(self) -> None:
        self._stack.close()
        self._current = None
        write_table(self.label, (self.rows[number] for number in sorted(self.rows)))

    def worst(self) -> Worst:
        """The longest interrupt latency and the deepest stack over all attacks; ends the
        machine."""
        assert self._current is not None, "the last attack failed and ended its machine"
        assert self._current.inspection is not None
        worst = self._current.inspection.end(self._current.machine)
        worst.write(TABLE / f"{self.label}-worst.json")
        (TABLE / f"{self.label}-worst.txt").write_text(table(worst.sections, 20), encoding="utf-8")
        return worst


@contextmanager
def attack_machine(
    label: str = "attacks",
    hypervisor: Path = HYPERVISOR_BIN,
    patience: float = 60,
    cpu: str | None = None,
    counted: bool = True,
    name: str = "attacker",
    without: str = "",
) -> Iterator[AttackMachine]:
    """
    A booted machine. `counted` selects virtual time and the lateness checks; otherwise the machine
    runs in host time. `without` names features that the hypervisor is told to treat as missing.
    """
    system = built(name, without, hypervisor)
    if not counted:
        with booted(untimed(system), label, cpu=cpu) as machine:
            yield AttackMachine(machine, patience, None, None)
        return
    inspection = Inspection(find_qemu(cpu_flags=cpu), hypervisor.with_suffix(".elf"), TABLE / label)
    with booted(system, label, *inspection.arguments, cpu=cpu) as machine:
        yield AttackMachine(machine, patience, LATE_TICKS + (FIRMWARE_TICKS if cpu else 0), inspection)


MENU = menu()
UNTIMED = {
    "vector_unmapped"
}  # the hart traps in a loop without retiring an instruction: virtual time would stand still

# Attacks that need the fabric: they run on tests/e2e/systems/attacker-accel.dts.
ACCEL = {attack.name for attack in MENU if attack.name.startswith("accel_")}
# Attacks that need virtual PCI functions: on tests/e2e/systems/attacker-virtio.dts.
VIRTIO = {attack.name for attack in MENU if attack.name.startswith("virtio_")}
# Attacks on disk servers, their disks and virtio-crypto: on tests/e2e/systems/attacker-storage.dts.
STORAGE = {attack.name for attack in MENU if attack.name.startswith(("storage_", "crypto_"))}


def attack_machines(label: str, **how: object) -> Iterator[AttackMachines]:
    """Body of a module fixture: the machines for the module's attacks."""
    machines = AttackMachines(label, patience=SOON_S, **how)
    yield machines
    machines.close()


def each_attack(attacks: list[Attack]) -> pytest.MarkDecorator:
    """Parametrizes a test over attacks."""
    return pytest.mark.parametrize("attack", attacks, ids=lambda attack: attack.name)


def check_worst(machines: AttackMachines) -> None:
    """After all attacks: enough samples, the longest interrupt latency within its bound, and half
    of the stack unused."""
    worst = machines.worst()
    assert len(worst.sections) > 20
    assert worst.sections[0].most <= read_metrics()["riscv.irqoff.max"].goal, worst.sections[0]
    assert 256 < worst.stack <= USABLE_STACK // 2
