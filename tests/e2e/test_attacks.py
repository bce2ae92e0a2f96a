# SPDX-License-Identifier: Apache-2.0
"""
The hostile guest's attacks (tests/guests/attacker) on the reference machine, each while one guest computes
and another takes interrupts; test_attacks_variants.py runs them on other machines.
docs/isolation.md describes what the attacks show. The tables written to build/e2e/attacks are
printed at the end of the run.
"""

import tomllib
from collections.abc import Iterator

import pytest
from attack_helpers import (
    ACCEL,
    LATE_TICKS,
    MENU,
    PRINTED_TICKS,
    STORAGE,
    UNTIMED,
    VIRTIO,
    Attack,
    AttackMachines,
    Lateness,
    attack_machines,
    check_worst,
    each_attack,
)

from tessera.run.runner import ROOT


@pytest.fixture(scope="module")
def counted() -> Iterator[AttackMachines]:
    yield from attack_machines("attacks")


def test_menu_has_enough_distinct_attacks():
    assert len(MENU) >= 60
    assert len({attack.name for attack in MENU}) == len(MENU)


def test_every_attack_detects_the_removal_of_a_defence():
    """`make mutate-faults` removes the defences of this list; here it is complete."""
    plan = tomllib.loads((ROOT / "tests" / "mutations" / "faults.toml").read_text(encoding="utf-8"))
    covered = {name for mutation in plan["mutation"] for name in mutation["attacks"]}
    assert covered | plan["hardware"].keys() == {attack.name for attack in MENU}
    assert not covered & plan["hardware"].keys()


def ticker_lines(*late: int, ever: int) -> str:
    """Lines as the ticker prints them."""
    head, tail = "ticker: 10 interrupts, late 9", f"ever {ever}, missed 0; 0 messages, 0 wrong, 0 of others"
    return "".join(f"{head}; 4 releases, late {ticks}, {tail}\n" for ticks in late)


def test_each_attack_is_judged_by_its_own_lateness():
    """An attack with the higher bound (the firmware prints) does not hide lateness of later
    attacks."""
    text = ticker_lines(3, LATE_TICKS, 4, ever=LATE_TICKS)
    lateness = Lateness(LATE_TICKS)
    assert lateness.judge("hypercalls", text) == (LATE_TICKS, 9)
    text += ticker_lines(3, PRINTED_TICKS, 2, ever=PRINTED_TICKS)
    assert lateness.judge("csr_reads", text) == (PRINTED_TICKS, 9)
    text += ticker_lines(1, 5, ever=PRINTED_TICKS)
    assert lateness.judge("hypercalls", text) == (5, 9)
    text += ticker_lines(2, LATE_TICKS + 1, 2, ever=PRINTED_TICKS)
    with pytest.raises(AssertionError, match=rf"released {LATE_TICKS + 1} ticks late"):
        lateness.judge("hypercalls", text)
    # The maximum itself was in a line split by the console.
    text += ticker_lines(2, ever=PRINTED_TICKS + 1)
    with pytest.raises(AssertionError, match=rf"released {PRINTED_TICKS + 1} ticks late"):
        lateness.judge("csr_reads", text)


@each_attack([attack for attack in MENU if attack.name not in UNTIMED | ACCEL | VIRTIO | STORAGE])
def test_attack(counted: AttackMachines, attack: Attack):
    counted.run(attack)


def test_worst_case_latency_and_stack(counted: AttackMachines):
    """After all attacks: the longest interrupt latency and the deepest stack."""
    check_worst(counted)
