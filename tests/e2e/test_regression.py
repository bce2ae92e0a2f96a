# SPDX-License-Identifier: Apache-2.0
"""Regression tests of the virtual platform (tests/guests/regression)."""

import time

import pytest
from helpers import AGAIN, HYPERVISOR_BIN, NEWER_QEMU, SOON_S, TURNS, VIRTUAL, booted, built, wait_for_signs_of_life
from mutants import Mutant, asked_for, hypervisor_of

from tessera.run.machine import HYPERVISOR, Machine
from tessera.run.runner import RunError, find_qemu


def alone(machine: Machine) -> Machine:
    """Makes the parser expect VM names: the console also carries the hypervisor's lines, although
    there is one VM."""
    machine.console.shared = True
    return machine


def test_started_hart_sees_a_pending_line():
    with booted(built("regression-lines"), "regression-lines") as machine:
        alone(machine).expect("guest", r"^regression: life 1: no interrupt$", SOON_S)
        machine.expect("guest", r"^regression: life 2: interrupted$", SOON_S)
        machine.expect("guest", r"^regression: life 3: interrupted$", SOON_S)


def test_hart_status():
    """SBI 2.0, table 9.2: 4 suspended, 0 started (also in WFI), 1 stopped."""
    with booted(built("regression-hsm"), "regression-hsm") as machine:
        alone(machine).expect("guest", r"^regression: suspended 4, waiting 0, gone 1$", SOON_S)


@pytest.mark.parametrize("cpu", ["", "sstc=false"])
def test_no_timer_survives_a_reset(cpu):
    with booted(built("regression-timer"), f"regression-timer-{cpu}", cpu=cpu) as machine:
        alone(machine)
        for _ in range(3):
            found = machine.expect("guest", r"^regression: timer of a former life: (none|fired)$", SOON_S)
            assert found[1] == "none"


def test_wfi_in_user_mode_is_illegal():
    with booted(built("regression-wfi"), "regression-wfi") as machine:
        alone(machine).expect("guest", r"^regression: wfi in user mode: illegal$", SOON_S)


@pytest.mark.parametrize("qemu", [None, NEWER_QEMU], ids=["qemu", "newer"])
def test_hart_sets_the_bits_of_page_tables(qemu):
    """A guest whose device tree lists Svadu relies on it; QEMU 10's default processor has it."""
    with booted(built("regression-svadu"), "regression-svadu", qemu=qemu) as machine:
        found = alone(machine).expect("guest", r"^regression: Svadu listed (\d), set (\d), faulted (\d)$", SOON_S)
        listed, bits, faulted = map(int, found.groups())
        assert listed or qemu is None
        assert (bits, faulted) in ([(3, 0)] if listed else [(3, 0), (0, 1)])


def test_loading_shares_the_hart_by_quantum():
    """On one hart with a quantum of 10 ms, no VM waits longer than the other VM's quantum."""
    with booted(built("regression-gap"), "regression-gap", *VIRTUAL) as machine:
        found = machine.expect("gap", r"^regression: longest gap (\d+) us$", 60)
        assert 9_000 < int(found[1]) < 11_000


def test_no_power_off_while_a_vm_restarts():
    with booted(built("regression-off"), "regression-off") as machine:
        machine.expect(HYPERVISOR, r"^shutdown stopped by its own shutdown$", SOON_S)
        time.sleep(0.5)  # the other VM restarts repeatedly meanwhile
        assert machine.running
        machine.skip(HYPERVISOR)
        machine.expect(HYPERVISOR, rf"^crash stopped by a fatal trap, {AGAIN}$", SOON_S)


def qemu_with(cpu: str) -> str | None:
    """The newer QEMU (make setup-qemu-new) if the QEMU under test does not support `cpu`."""
    try:
        find_qemu(cpu_flags=cpu)
    except RunError:
        return NEWER_QEMU
    return None


def test_linux_where_access_to_senvcfg_has_to_be_allowed():
    """Smstateen: accesses that hstateen0 does not allow trap, and Linux sets senvcfg before its
    first output."""
    system, cpu = built("linux"), "smstateen=true"
    with booted(system, "regression-smstateen", cpu=cpu, qemu=qemu_with(cpu)) as machine:
        wait_for_signs_of_life(alone(machine), system)


def wrong_values(hypervisor=HYPERVISOR_BIN) -> int:
    """
    The number of wrong values among 100 that a VCPU reads from a floating-point register, each
    after moving to the other hart. Uses the newer QEMU: the older one does not run the second hart
    while the first is in a loop.
    """
    system = built("regression-migrate", hypervisor=hypervisor)
    with booted(system, "regression-migrate", *VIRTUAL, *TURNS, qemu=NEWER_QEMU) as machine:
        found = alone(machine).expect("migrate", r"^regression: migrated: (\d+) checks, (\d+) wrong$", SOON_S)
        assert int(found[1]) == 100
        return int(found[2])


def test_floating_point_follows_a_vcpu_to_a_hart_that_was_idle():
    """The hart's registers still hold the VCPU's earlier values, which must not be reused."""
    assert wrong_values() == 0


@asked_for
def test_mutant_with_stale_fp_registers_is_detected():
    stale = Mutant("fp-stale", "arch/riscv/vcpu.c", "        cpu->arch.fp = FP_STALE;\n", "        (void)cpu;\n")
    assert wrong_values(hypervisor_of(stale)) >= 49  # on the first move there is no stale value
