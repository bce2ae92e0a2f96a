# SPDX-License-Identifier: Apache-2.0
"""
The hostile guest's attacks on virtual PCI functions (docs/networking.md): wrong rings, descriptors that change,
forged frames and packets, floods; beside the guests of test_attacks.py and two VMs that exchange data in the same
network, whose data must arrive. Both VMs are also restarted while data are on their way.
"""

from collections.abc import Iterator

import pytest
from attack_helpers import (
    MENU,
    VIRTIO,
    Attack,
    AttackMachines,
    attack_machines,
    check_peers,
    check_worst,
    each_attack,
)
from helpers import SOON_S, booted, built, command, keyboard, wait_for_signs_of_life

# The attacker's two VCPUs at once: in a queue, in a receiver's queue.
CONCURRENT = {"virtio_torn", "virtio_receiver_resets", "virtio_receiver_rewrites"}


@pytest.fixture(scope="module")
def virtio() -> Iterator[AttackMachines]:
    yield from attack_machines("attacks-virtio", name="attacker-virtio")


@pytest.fixture(scope="module")
def two_harts() -> Iterator[AttackMachines]:
    yield from attack_machines("attacks-virtio-two", name="attacker-virtio-two", counted=False)


@each_attack([attack for attack in MENU if attack.name in VIRTIO])
def test_attack_on_virtual_functions(virtio: AttackMachines, attack: Attack):
    virtio.run(attack)


def test_worst_case_latency_and_stack(virtio: AttackMachines):
    check_worst(virtio)


@pytest.mark.long
@each_attack([attack for attack in MENU if attack.name in CONCURRENT])
def test_attack_on_two_harts(two_harts: AttackMachines, attack: Attack):
    two_harts.run(attack)


def test_restarts_while_data_are_on_their_way():
    """Of the sender, of the receiver, and of the attacker while it floods the receiver."""
    number = next(attack.number for attack in MENU if attack.name == "virtio_socket_flood")
    system = built("attacker-virtio")
    with booted(system, "attacks-virtio-restarts") as machine:
        wait_for_signs_of_life(machine, system)
        for name in ("answer", "ask", "answer", "ask"):
            keyboard(machine, name)
            command(machine, "r")
            check_peers(machine)
        keyboard(machine, "attacker")
        machine.send(f"{number}\r")
        machine.expect("attacker", r"virtio_socket_flood begins", SOON_S)
        command(machine, "r")
        check_peers(machine)
