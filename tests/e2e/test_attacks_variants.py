# SPDX-License-Identifier: Apache-2.0
"""
Attacks of the hostile guest on machines that take other paths through the hypervisor than that of
test_attacks.py: with firmware timers, with two harts, in host time, and without htinst (the hart
does not report the trapped instruction).
"""

from collections.abc import Iterator
from contextlib import suppress

import pytest
from attack_helpers import (
    MENU,
    UNTIMED,
    Attack,
    AttackMachine,
    AttackMachines,
    attack_machines,
    check_worst,
    each_attack,
    untimed,
)
from helpers import NEWER_QEMU, SOON_S, booted, built, few_of, firmware

from tessera.run.machine import HYPERVISOR, MachineTimeoutError

ESCAPES_S = 5  # of the emulator's CPU time; an attack that fails says so at once

# Without Sstc the hypervisor multiplexes guest timers; also attacks that depend on the machine's
# features.
EMULATED = {
    "csr_reads", "csr_writes", "csr_reads_user", "csr_writes_user", "timer_storm", "call_flood", "state_left",
    "sbi_random", "wfi_storm", "sleep_forever", "loop_on_every_hart", "hart_storm", "reset_forever",
}  # fmt: skip

# Attacks that use both of the attacker's harts at once.
CONCURRENT = {
    "tables_changing", "code_gone_user", "remote_fences", "hart_storm", "fence_storm", "ipi_storm", "ipc_flood",
    "loop_on_every_hart", "hcall_random", "sbi_random", "plic_storm", "reset_forever",
}  # fmt: skip

# Attacks on devices: on more than one hart, an access locks the VM.
LOCKED = {"plic_registers"}

ALWAYS = {"remote_fences", "reset_forever"}  # of these

# Without htinst the hypervisor fetches the instruction and tells the access from its page-table
# walk.
FETCHED = {
    "tables_elsewhere",
    "tables_in_devices",
    "tables_garbage",
    "device_operands",
    "device_atomics",
    "console_flood",
}


@pytest.fixture(scope="module")
def without_htinst() -> Iterator[AttackMachines]:
    yield from attack_machines("attacks-no-htinst", without="htinst")


@pytest.fixture(scope="module")
def without_sstc() -> Iterator[AttackMachines]:
    yield from attack_machines("attacks-no-sstc", cpu="sstc=false")


@pytest.fixture(scope="module")
def free_running() -> Iterator[AttackMachines]:
    yield from attack_machines("attacks-untimed", counted=False)


@pytest.fixture(scope="module")
def two_harts() -> Iterator[AttackMachines]:
    yield from attack_machines("attacks-two", name="attacker-two", counted=False)


@pytest.mark.long
@each_attack([attack for attack in MENU if attack.name in EMULATED])
def test_attack_without_sstc(without_sstc: AttackMachines, attack: Attack):
    without_sstc.run(attack)


@pytest.mark.long
def test_worst_case_latency_and_stack_without_sstc(without_sstc: AttackMachines):
    check_worst(without_sstc)


@each_attack([attack for attack in MENU if attack.name in FETCHED])
def test_attack_without_htinst(without_htinst: AttackMachines, attack: Attack):
    without_htinst.run(attack)


@each_attack([attack for attack in MENU if attack.name in UNTIMED])
def test_attack_in_the_hosts_time(free_running: AttackMachines, attack: Attack):
    free_running.run(attack)


@pytest.mark.parametrize(
    "attack",
    few_of(
        [attack for attack in MENU if attack.name in CONCURRENT | LOCKED],
        [attack for attack in MENU if attack.name in ALWAYS],
    ),
    ids=lambda attack: attack.name,
)
def test_attack_on_two_harts(two_harts: AttackMachines, attack: Attack):
    two_harts.run(attack)


# Attacks on the firmware below: on QEMU 10.0, also with the firmware that this QEMU brings along.
FIRMWARE = [attack for attack in MENU if attack.name.startswith("stale_fetch")]


@pytest.mark.parametrize("hide", few_of(["", "time"], [""]))
def test_attack_on_the_own_firmware(hide: str, monkeypatch: pytest.MonkeyPatch):
    """Without the time CSR the firmware takes a guest's illegal instructions, and hands them on. The hart has no Sstc
    then: QEMU 10 raises a guest's timer without end where Sstc exists but is hidden."""
    monkeypatch.setenv("FIRMWARE", str(firmware(hide)))
    label, cpu = f"attacks-own-firmware{hide}", "sstc=false" if hide else None
    with booted(untimed(built("attacker")), label, cpu=cpu, qemu=NEWER_QEMU) as machine:
        attacked = AttackMachine(machine, SOON_S, None, None)
        for attack in FIRMWARE:
            print(attacked.run(attack).row())


@pytest.mark.long
@pytest.mark.parametrize("attack", FIRMWARE, ids=lambda attack: attack.name)
def test_attack_escapes_under_opensbi(attack: Attack, monkeypatch: pytest.MonkeyPatch):
    """The attack works: OpenSBI enters the guest's trap vector with the hypervisor's rights. A page fault of the guest
    would be delegated to the guest; this one is the hypervisor's, which reports it, or the hart is lost: that depends
    on the hypervisor's addresses, and on which VM runs when."""
    monkeypatch.setenv("FIRMWARE", "opensbi")
    with booted(untimed(built("attacker")), f"attacks-opensbi-{attack.name}", qemu=NEWER_QEMU) as machine:
        AttackMachine(machine, SOON_S, None, None)
        machine.send(f"{attack.number}\r")
        machine.expect("attacker", rf"^attacker: {attack.number} {attack.name} begins", SOON_S)
        with suppress(MachineTimeoutError):
            machine.expect(HYPERVISOR, r"^\w+ vcpu \d: an unhandled trap: cause \d+ \(unknown\), address 0x", ESCAPES_S)
        assert "as expected" not in machine.console.text("attacker")
