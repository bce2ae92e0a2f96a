# SPDX-License-Identifier: Apache-2.0
"""
Errata of CVA6 (docs/errata-cva6.md) on machines that do not have them: the hypervisor built with HYP_ERRATA=cva6, and
an erratum injected.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path

import pytest
from attack_helpers import MENU, Attack, AttackMachines, attack_machines, each_attack
from helpers import (
    BOOT_S,
    EVERY_FEATURE,
    SOON_S,
    assert_well,
    booted,
    built,
    make,
    tell,
    wait_for_signs_of_life,
)

from tessera.run.machine import HYPERVISOR, Machine
from tessera.run.runner import ROOT

INJECTED = "tests/e2e/erratum_csr_write"
COMPONENTS = f"rt ipc debug console seed compat accel shared {INJECTED}"


# Attacks that lead the hypervisor to HLV and HLVX, to their faults, and to the remedy of erratum 3398.
ATTACKED = {
    "csr_reads", "csr_writes", "csr_reads_user", "guest_accesses", "state_left", "code_gone", "code_gone_user",
    "tables_elsewhere", "tables_in_devices", "tables_garbage", "device_operands", "device_atomics",
}  # fmt: skip


@cache
def hypervisor_with_remedies() -> Path:
    """The build that check-hlv checks: each HLV and HLVX is executed with satp = 0."""
    folder = "build/check/hyp-cva6"
    make("hyp", "HYP_ERRATA=cva6", f"HYP_BUILD={folder}")
    return ROOT / folder / "tessera.bin"


@cache
def hypervisor_with_erratum(errata: str) -> Path:
    """A hypervisor on a machine with erratum 3398, with the remedies of this folder of arch/riscv/errata."""
    folder = f"build/check/hyp-erratum-{errata}"
    make("hyp", f"HYP_ERRATA={errata}", f"HYP_COMPONENTS={COMPONENTS}", "HYP_WRAP=exit_trap", f"HYP_BUILD={folder}")
    return ROOT / folder / "tessera.bin"


def booted_with_erratum(errata: str) -> AbstractContextManager[Machine]:
    return booted(built("erratum", hypervisor=hypervisor_with_erratum(errata)), f"erratum-{errata}")


def test_writes_of_a_guest_change_nothing():
    """Each CSR that the guest has written has the hypervisor's value again when the guest continues; the guest does not
    read the hypervisor's memory; a write from user mode ends the VM, and no other."""
    with booted_with_erratum("cva6") as machine:
        machine.expect("erratum", "^erratum: writes from user mode\n", BOOT_S)
        report = machine.console.text("erratum")
        for csr in ("henvcfg", "hcounteren", "sie", "hvip", "hgatp", "hideleg", "hstatus", "hedeleg"):
            assert f"erratum: {csr} kept\n" in report, report
        assert "erratum: the hypervisor's memory: refused\n" in report
        machine.expect(HYPERVISOR, "^erratum vcpu 0: a CSR of its kernel was written from user mode", SOON_S)
        assert "continues" not in machine.console.text("erratum")
        machine.skip("witness")
        machine.expect("witness", r"^witness: \d+ rounds, sum 0x[0-9a-f]+, 0 wrong$", SOON_S)


@pytest.mark.long
def test_the_injected_erratum_is_harmful():
    """Without the remedy the guest reads the hypervisor's memory: the test above tests something."""
    with booted_with_erratum("none") as machine:
        found = machine.expect("erratum", "^erratum: the hypervisor's memory: read 0x([0-9a-f]+)\n", BOOT_S)
        report = machine.console.text("erratum")
        for csr in ("henvcfg", "hcounteren", "hvip", "hgatp"):
            assert f"erratum: {csr} changed\n" in report, report
    first = hypervisor_with_erratum("none").read_bytes()[:8]
    assert int(found[1], 16) == int.from_bytes(first, "little")


@pytest.mark.long
def test_guests_on_the_minimal_core():
    """Instructions of device accesses are fetched by HLVX, through 2 MiB pages of the second stage, with the
    hypervisor's own translation off; it is on again afterwards, else the window to guest memory would fault."""
    system = built("trio-one-hart", EVERY_FEATURE, hypervisor_with_remedies())
    with booted(system, "remedies-minimal") as machine:
        wait_for_signs_of_life(machine, system)
        tell(machine, "first", "id")
        machine.expect("first", r"^misbehave: HCALL_INFO_GET_ID error 0 value 0, in assembly 0$", SOON_S)
        tell(machine, "first", "read")
        machine.expect("first", r"^misbehave: caught exception 5 stval 0x1f000000 ", SOON_S)
        assert_well(machine)
        assert "error:" not in machine.console.text(HYPERVISOR)


@pytest.fixture(scope="module")
def attacked() -> Iterator[AttackMachines]:
    yield from attack_machines("remedies", without="htinst", hypervisor=hypervisor_with_remedies())


@each_attack([attack for attack in MENU if attack.name in ATTACKED])
def test_attack_with_remedies(attacked: AttackMachines, attack: Attack):
    attacked.run(attack)
