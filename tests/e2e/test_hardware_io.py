# SPDX-License-Identifier: Apache-2.0
"""VMs that share a flash, an Ethernet port and pins (docs/hardware-io.md), whose RTL runs beside QEMU (fpga/cosim)."""

import re

from helpers import BOOT_S, SOON_S, booted, built

from tessera.run.machine import HYPERVISOR


def test_drivers():
    """Every function of the SDK's drivers, in two VMs at the same time."""
    with booted(built("shared-devices"), "shared-devices") as machine:
        for name in machine.console.names:
            machine.expect(name, r"shared: done, 0 wrong", BOOT_S)
        assert machine.wait_until(lambda: not machine.running, SOON_S), "the machine does not shut down"
        assert "wrong:" not in machine.console.text("first") + machine.console.text("second")
        lines = re.findall(r"error: .*", machine.console.text(HYPERVISOR))
        assert lines, "the hypervisor reports an access outside of a VM"
        assert all(line.endswith("by a shared device is outside of the VM, address 0x1000") for line in lines), lines
