# SPDX-License-Identifier: Apache-2.0
"""
The hostile guest's attacks on accelerators: floods of requests, registers with odd values, DMA
outside of its memory, tasks that hang; beside the guests of test_attacks.py and one that uses the
same region at a higher priority.
"""

from collections.abc import Iterator

import pytest
from attack_helpers import ACCEL, MENU, Attack, AttackMachines, attack_machines, check_worst, each_attack


@pytest.fixture(scope="module")
def accelerated() -> Iterator[AttackMachines]:
    yield from attack_machines("attacks-accel", name="attacker-accel")


@each_attack([attack for attack in MENU if attack.name in ACCEL])
def test_attack_on_accelerators(accelerated: AttackMachines, attack: Attack):
    accelerated.run(attack)


def test_worst_case_latency_and_stack(accelerated: AttackMachines):
    """The manager's sections are within the bound that admission counts (rt-blocked-ns)."""
    check_worst(accelerated)
