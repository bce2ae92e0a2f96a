# SPDX-License-Identifier: Apache-2.0
"""
The hostile guest's attacks (guests/faults), each beside a guest that computes and one that takes interrupts, on the
reference machine; on others: test_attacks_variants.py. docs/isolation.md says what is shown by that.
The table that they leave in build/e2e/faults is printed at the end.
"""

from collections.abc import Iterator

import pytest
from attack_helpers import LATE_TICKS, MENU, PRINTED_TICKS, UNTIMED, Arenas, Attack, Lateness, arenas, check_worst, some


@pytest.fixture(scope="module")
def counted() -> Iterator[Arenas]:
    yield from arenas("faults")


def test_there_are_enough():
    assert len(MENU) >= 60
    assert len({attack.name for attack in MENU}) == len(MENU)


def told(*late: int, ever: int) -> str:
    """The ticker's lines."""
    head, tail = "ticker: 10 interrupts, late 9", f"ever {ever}, missed 0; 0 messages, 0 wrong"
    return "".join(f"{head}; 4 releases, late {ticks}, {tail}\n" for ticks in late)


def test_each_attack_is_judged_by_its_own_lateness():
    """One that may be later than others, for it makes the firmware print, covers up nothing that comes after it."""
    text = told(3, LATE_TICKS, 4, ever=LATE_TICKS)
    lateness = Lateness(LATE_TICKS)
    assert lateness.judge("hypercalls", text) == (LATE_TICKS, 9)
    text += told(3, PRINTED_TICKS, 2, ever=PRINTED_TICKS)
    assert lateness.judge("csr_reads", text) == (PRINTED_TICKS, 9)
    text += told(1, 5, ever=PRINTED_TICKS)
    assert lateness.judge("hypercalls", text) == (5, 9)
    text += told(2, LATE_TICKS + 1, 2, ever=PRINTED_TICKS)
    with pytest.raises(AssertionError, match=rf"late by {LATE_TICKS + 1} ticks"):
        lateness.judge("hypercalls", text)
    text += told(2, ever=PRINTED_TICKS + 1)  # in a line that was broken
    with pytest.raises(AssertionError, match=rf"late by {PRINTED_TICKS + 1} ticks"):
        lateness.judge("csr_reads", text)


@some([attack for attack in MENU if attack.name not in UNTIMED])
def test_attack(counted: Arenas, attack: Attack):
    counted.run(attack)


def test_what_the_hypervisor_took_at_most(counted: Arenas):
    """After all attacks: the longest time for which it did not look at interrupts, and its deepest stack."""
    check_worst(counted)
