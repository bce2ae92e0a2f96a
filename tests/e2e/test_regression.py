# SPDX-License-Identifier: Apache-2.0
"""Corners of the virtual platform that went wrong once (guests/corners)."""

import time

import pytest
from helpers import AGAIN, HYPERVISOR_BIN, NEWER_QEMU, SOON_S, TURNS, VIRTUAL, await_life, booted, built
from mutants import Mutant, asked_for, hypervisor_of

from tessera.machine import HYPERVISOR, Machine
from tessera.runner import RunError, find_qemu

COUNTED = ("-icount", "shift=0,sleep=off", "-nic", "none")


def alone(machine: Machine) -> Machine:
    """With one VM, too, the console carries the hypervisor's lines."""
    machine.console.shared = True
    return machine


def test_a_hart_that_is_started_sees_the_line_that_is_high():
    with booted(built("corners-lines"), "corners-lines") as machine:
        alone(machine).expect("lines", r"^corners: life 1: no interrupt$", SOON_S)
        machine.expect("lines", r"^corners: life 2: interrupted$", SOON_S)
        machine.expect("lines", r"^corners: life 3: interrupted$", SOON_S)


def test_a_hart_is_said_to_be_what_it_is():
    """SBI 2.0, table 9.2: 4 suspended, 0 started (also in WFI), 1 stopped."""
    with booted(built("corners-hsm"), "corners-hsm") as machine:
        alone(machine).expect("hsm", r"^corners: suspended 4, waiting 0, gone 1$", SOON_S)


@pytest.mark.parametrize("cpu", ["", "sstc=false"])
def test_no_timer_survives_a_reset(cpu):
    with booted(built("corners-timer"), f"corners-timer-{cpu}", cpu=cpu) as machine:
        alone(machine)
        for _ in range(3):
            found = machine.expect("timer", r"^corners: timer of a former life: (none|fired)$", SOON_S)
            assert found[1] == "none"


def test_wfi_in_user_mode_is_illegal():
    with booted(built("corners-wfi"), "corners-wfi") as machine:
        alone(machine).expect("wfi", r"^corners: wfi in user mode: illegal$", SOON_S)


def test_loading_takes_turns():
    """On one hart, with a quantum of 10 ms: nobody waits for more than the other's quantum."""
    with booted(built("corners-gap"), "corners-gap", *COUNTED) as machine:
        found = machine.expect("gap", r"^corners: longest gap (\d+) us$", 60)
        assert 9_000 < int(found[1]) < 11_000


def test_no_power_off_while_a_vm_starts_again():
    with booted(built("corners-off"), "corners-off") as machine:
        machine.expect(HYPERVISOR, r"^shutdown stopped by its own shutdown$", SOON_S)
        time.sleep(0.5)  # the other one starts again and again
        assert machine.running
        machine.skip(HYPERVISOR)
        machine.expect(HYPERVISOR, rf"^crash stopped by a fatal trap, {AGAIN}$", SOON_S)


def qemu_with(cpu: str) -> str | None:
    """The newer QEMU (make setup-qemu-new) if that of the tests does not know `cpu`."""
    try:
        find_qemu(cpu_flags=cpu)
    except RunError:
        return NEWER_QEMU
    return None


def test_linux_where_access_to_senvcfg_has_to_be_allowed():
    """Smstateen: what hstateen0 does not allow a guest traps, and Linux sets senvcfg before it can say a word."""
    system, cpu = built("linux"), "smstateen=true"
    with booted(system, "corners-smstateen", cpu=cpu, qemu=qemu_with(cpu)) as machine:
        await_life(alone(machine), system)


def wrong_values(hypervisor=HYPERVISOR_BIN) -> int:
    """
    Of 100 that a VCPU looks for in a floating-point register, having come from the other hart each time. On the newer
    QEMU: the older one gives the second hart no time while the first goes round.
    """
    system = built("corners-wander", hypervisor=hypervisor)
    with booted(system, "corners-wander", *VIRTUAL, *TURNS, qemu=NEWER_QEMU) as machine:
        found = alone(machine).expect("wander", r"^corners: wandered: (\d+) looks, (\d+) wrong$", SOON_S)
        assert int(found[1]) == 100
        return int(found[2])


def test_floating_point_follows_a_vcpu_to_a_hart_that_was_idle():
    """The hart's registers still hold the VCPU's values of before."""
    assert wrong_values() == 0


@asked_for
def test_a_hart_that_believes_its_old_values_is_found():
    stale = Mutant("fp-stale", "arch/riscv/vcpu.c", "        cpu->arch.fp = FP_STALE;\n", "        (void)cpu;\n")
    assert wrong_values(hypervisor_of(stale)) >= 49  # the first time there is nothing old
