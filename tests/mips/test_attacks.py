# SPDX-License-Identifier: Apache-2.0
"""
Attacks of a hostile guest on MIPS32 (tests/guests/attacker/mips). FreeRTOS with its self-check and
a guest with a timer and an RT app run at the same time and must not be affected; each attack must
end as attacks.def requires. Several short attacks share a run.
"""

import re
from dataclasses import dataclass
from functools import cache

import pytest
import random_guest
from conftest import TARGETS, Run, build, in_turn, run

from tessera.run.machine import HYPERVISOR
from tessera.run.runner import ROOT

LIMIT_REACHED = 124
BEGIN_S = 0.3
AGAIN_S = 1.2
LIMIT = "200M"  # instructions: two seconds if no VCPU waits
ONE_ATTACK = "120M"  # the witness reports its first self-check after one second
EACH_S = 0.1  # between the starts of two short attacks of a run
TOGETHER = 8  # short attacks per run
LAST_SHORT = "ipc_receive_pointers"  # the last attack without a run of its own
ENTRY = re.compile(r'^ATTACK\((\w+), (\w+), "([^"]*)"', re.MULTILINE)
TICKER = re.compile(
    r"^ticker: (\d+) interrupts, late (\d+); (\d+) releases, late (\d+), ever (\d+), missed (-?\d+); "
    r"(\d+) messages, (\d+) wrong, (\d+) of others$",
    re.MULTILINE,
)
TICKS_A_MS = 50_000
LATEST_MS = 20  # waiting time of a guest: two other guests, RT apps, and the load of a VM


@dataclass(frozen=True)
class Attack:
    number: int
    name: str
    ends: str
    must: str


def menu() -> list[Attack]:
    text = (ROOT / "tests" / "guests" / "attacker" / "mips" / "attacks.def").read_text(encoding="utf-8")
    return [Attack(number, *words) for number, words in enumerate(ENTRY.findall(text))]


def check_others(system: Run, attacker: str = "attacker") -> None:
    """
    FreeRTOS passes its check and continues, the ticker and its app met their times and got messages of
    the attacker only, and no other VM has stopped.
    """
    witness = system.text("witness")
    assert "FAILED" not in witness and "exception" not in witness, witness[-500:]
    assert re.search(r"^freertos: up 1 s, ", witness, re.MULTILINE), witness[-500:]
    lines = [list(map(int, numbers)) for numbers in TICKER.findall(system.text("ticker"))]
    assert len(lines) > 50, f"the ticker has stopped: {len(lines)} lines"
    assert max(line[1] for line in lines) < LATEST_MS * TICKS_A_MS, "the ticker was scheduled too late"
    assert lines[-1][5] == 0, f"the ticker's app has missed deadlines: {lines[-1]}"
    assert lines[-1][8] == 0, f"the ticker received messages of other senders: {lines[-1]}"
    if attacker != "random":  # which may send any bytes
        assert lines[-1][7] == 0, f"the ticker received messages that were never sent: {lines[-1]}"
    stopped = re.findall(r"^(\w+) (?:stopped|vcpu)", system.text(HYPERVISOR), re.MULTILINE)
    assert set(stopped) <= {attacker}, stopped


def ends_returns(attack: Attack, system: Run) -> None:
    said = re.search(
        rf"^attacker: {attack.number} {attack.name}: (.*)$\n(?:.*\n)*^attacker: ready$",
        system.text("attacker"),
        re.MULTILINE,
    )
    assert said, system.text("attacker")[-500:]
    assert re.fullmatch(r"as expected, [1-9]\d* tried", said[1]), said[1]
    assert "attacker stopped by its own reset, starts again" in system.text(HYPERVISOR)


def ends_stops(attack: Attack, system: Run) -> None:
    printed = system.text(HYPERVISOR)
    assert re.search(r"^attacker vcpu \d+: no memory at an exception handler", printed, re.MULTILINE), printed
    assert "attacker stopped by a fatal trap, starts again" in printed
    assert system.text("attacker").rstrip().endswith("attacker: ready"), attack.name


def ends_hangs(attack: Attack, system: Run) -> None:
    assert system.text("attacker").rpartition(" begins")[2].partition("\n")[2].strip() == "", attack.name
    assert not re.search(r"^attacker ", system.text(HYPERVISOR), re.MULTILINE)  # lines about a VM begin with its name


def ends_off(attack: Attack, system: Run) -> None:
    assert re.search(r"^attacker stopped by its own shutdown$", system.text(HYPERVISOR), re.MULTILINE), attack.name


ENDS = {"RETURNS": ends_returns, "STOPS": ends_stops, "HANGS": ends_hangs, "OFF": ends_off}


def groups() -> list[tuple[Attack, ...]]:
    """The attacks of each run: several short ones, or one long one."""
    attacks = menu()
    first = [attack.name for attack in attacks].index(LAST_SHORT) + 1
    short = [tuple(attacks[at : min(at + TOGETHER, first)]) for at in range(0, first, TOGETHER)]
    return short + [(attack,) for attack in attacks[first:]]


def cases() -> list:
    """Every attack on every target; `make test` runs the attacks of one run on one target."""
    turns = {attack: turn for turn, group in enumerate(groups()) for attack in group}
    return in_turn(list(turns), list(turns.values()))


@cache
def run_group(group: tuple[Attack, ...], board: str) -> Run:
    typed = [(BEGIN_S + at * EACH_S, f"{attack.number}\r") for at, attack in enumerate(group)]
    return run("attacker", board, typed=typed, limit=ONE_ATTACK)


@pytest.mark.parametrize(("attack", "board"), cases(), ids=lambda value: getattr(value, "name", value))
def test_attack(attack: Attack, board: str) -> None:
    group = next(group for group in groups() if attack in group)
    system = run_group(group, board)
    assert system.code == LIMIT_REACHED, system.remarks
    assert f"attacker: {attack.number} {attack.name} begins" in system.text("attacker")
    ENDS[attack.ends](attack, system)
    check_others(system)


def attacked(name: str, system: str, board: str) -> Run:
    """Runs the attack twice in another system; the first one must leave no trace for the second."""
    attack = next(attack for attack in menu() if attack.name == name)
    typed = [(at, f"{attack.number}\r") for at in (BEGIN_S, AGAIN_S)]
    result = run(system, board, typed=typed, limit=LIMIT)
    assert result.code == LIMIT_REACHED, result.printed[-1000:] + result.remarks
    ends_returns(attack, result)
    assert (
        len(re.findall(rf"^attacker: {attack.number} {name}: as expected", result.text("attacker"), re.MULTILINE)) == 2
    )
    return result


@pytest.mark.parametrize(("name", "board"), in_turn(["hypcall_codes"]))
def test_hypercalls_of_a_vm_that_shares_its_guest_id(name: str, board: str) -> None:
    system = attacked(name, "seven", board)
    for other in (f"adpcm-{n}" for n in range(6)):
        assert "samples 0xb7b3613a" in system.text(other), other


@pytest.mark.parametrize(("name", "board"), in_turn(["state_is_kept", "tlb_is_its_own"]))
def test_state_is_kept_while_another_vm_is_loaded(name: str, board: str) -> None:
    """
    The steps of a load are scheduled like a VCPU; afterwards the guest that ran before continues.
    """
    system = attacked(name, "resetting", board)
    assert system.text(HYPERVISOR).count("resetting stopped by its own reset, starts again") > 10


@pytest.mark.parametrize(
    ("seed", "board"),
    [*in_turn([0]), *(pytest.param(seed, board, marks=pytest.mark.long) for seed in (1, 2) for board in TARGETS)],
)
def test_random_instructions(seed: int, board: str) -> None:
    """
    A guest that executes random instructions and hypercalls, and is restarted by its watchdog when
    it hangs.
    """
    random_guest.make(ROOT / "build" / "guests-mips" / "random" / "random.bin", seed)
    build.cache_clear()
    system = run("random", board, limit=LIMIT)
    assert system.code == LIMIT_REACHED, system.printed[-1000:] + system.remarks
    exits = re.findall(r"^ +guest 1 +to root +GE (GPSI|HC) +(\d+)$", system.remarks, re.MULTILINE)
    assert sum(int(count) for _, count in exits) > 5000, system.remarks
    check_others(system, "random")
