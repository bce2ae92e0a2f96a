# SPDX-License-Identifier: Apache-2.0
"""Instructions for clearing the RAM of a VM before it starts."""

from helpers import BOOT_S, NEWER_QEMU, VIRTUAL, booted, built

from tessera.run.machine import HYPERVISOR

REPORT = r"^boot: instret \d+ to the first guest; copying and clearing took (\d+) of all CPUs$"
# In 1,024 bytes, with the polling points and the guest's 2 KiB of payload. 211 by stores of 64 bits.
MOST_IN_KIB = 100


def test_clearing_by_cbo_zero() -> None:
    """Three instructions for a block of 64 bytes. The older QEMU's machine does not have cbo.zero."""
    system = built("hello")
    with booted(system, "clearing", *VIRTUAL, cpu="zicboz=true", qemu=NEWER_QEMU) as machine:
        cost = int(machine.expect(HYPERVISOR, REPORT, BOOT_S)[1])
    assert cost <= MOST_IN_KIB * (system.vm("hello")["memory"]["size"] >> 10)
