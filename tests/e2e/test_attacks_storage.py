# SPDX-License-Identifier: Apache-2.0
"""
The hostile guest's attacks as the server of another VM's disk, as the driver of a disk that another VM serves, and on
its virtio-crypto (docs/networking.md). They run beside the guests of test_attacks.py, the VM whose disk the attacker
serves, the VM that serves the attacker's disk, and two VMs that exchange data, one of which has a disk of the same
server. Servers and drivers are also restarted with requests in flight.
"""

from collections.abc import Iterator

import pytest
from attack_helpers import (
    MENU,
    STORAGE,
    VICTIM,
    Attack,
    AttackMachines,
    attack_machines,
    check_peers,
    check_worst,
    each_attack,
)
from helpers import SOON_S, booted, built, command, keyboard, wait_for_signs_of_life

from tessera.run.machine import Machine

# The attacker's two VCPUs at once, and the VMs of its disks next to them.
CONCURRENT = {"storage_server_resets", "storage_server_torn", "storage_client_torn", "crypto_torn", "crypto_resets"}


@pytest.fixture(scope="module")
def storage() -> Iterator[AttackMachines]:
    yield from attack_machines("attacks-storage", name="attacker-storage")


@pytest.fixture(scope="module")
def two_harts() -> Iterator[AttackMachines]:
    yield from attack_machines("attacks-storage-two", name="attacker-storage-two", counted=False)


@each_attack([attack for attack in MENU if attack.name in STORAGE])
def test_attack_on_disks_and_crypto(storage: AttackMachines, attack: Attack):
    storage.run(attack)


def test_worst_case_latency_and_stack(storage: AttackMachines):
    check_worst(storage)


@pytest.mark.long
@each_attack([attack for attack in MENU if attack.name in CONCURRENT])
def test_attack_on_two_harts(two_harts: AttackMachines, attack: Attack):
    two_harts.run(attack)


def begin_attack(machine: Machine, name: str) -> None:
    number = next(attack.number for attack in MENU if attack.name == name)
    machine.skip("attacker")
    machine.send(f"{number}\r")
    machine.expect("attacker", rf"{name} begins", SOON_S)


@pytest.mark.long
def test_restarts_with_requests_in_flight():
    """Of the good server, of a driver of its disks, of the attacker as a server and as a driver, and of its victim."""
    system = built("attacker-storage")
    with booted(system, "attacks-storage-restarts") as machine:
        wait_for_signs_of_life(machine, system)
        for name in ("storage", "ask"):
            keyboard(machine, name)
            command(machine, "r")
            check_peers(machine)
        for attack in ("storage_server_answers", "storage_client_torn", "crypto_resets"):
            keyboard(machine, "attacker")
            begin_attack(machine, attack)
            command(machine, "r")
            check_peers(machine)
        keyboard(machine, "attacker")
        machine.expect("attacker", r"^attacker: ready$", SOON_S)
        begin_attack(machine, "storage_server_answers")
        keyboard(machine, "victim")
        command(machine, "r")
        keyboard(machine, "attacker")
        machine.expect("attacker", r"storage_server_answers: as expected", SOON_S)
        machine.expect("victim", VICTIM.pattern, SOON_S)
        assert "wrong" not in machine.console.text("victim")
        check_peers(machine)
