# SPDX-License-Identifier: Apache-2.0
"""VMs that use accelerators while they, or others, end, fail or run on several harts: the guest
`accel_faults` compares each result with software's."""

from helpers import BOOT_S, SOON_S, booted, built

from tessera.run.machine import Machine


def finished(system: str, *vms: str) -> Machine:
    """Runs a system until these VMs have ended without a wrong result, and the machine is off."""
    with booted(built(system), system) as machine:
        for name in vms:
            machine.expect(name, r"^accel: done, \d+ jobs, 0 wrong$", BOOT_S)
        assert machine.wait_until(lambda: not machine.running, SOON_S), "the machine does not shut down"
        return machine


def test_regions_change_hands_between_harts():
    """Each VM loses its region to VMs on the other hart, while it writes its registers: a START that
    is written before the fence arrives is found, and every job ends."""
    machine = finished("accel-harts", "pair", "same", "urgent")
    assert "accel: done, 1000 jobs" in machine.console.text("pair")  # on two VCPUs
