# SPDX-License-Identifier: Apache-2.0
"""A passed-through device: the guest's driver operates it and takes its interrupt."""

import re

import pytest
from helpers import (
    BOOT_S,
    LINUX_PROMPT,
    RISCV,
    SOON_S,
    ask,
    booted,
    booted_linux,
    built_with_harts,
    caught,
    tell,
)

from tessera.run.machine import HYPERVISOR

INTERRUPTS = r"^ *\d+:\s+(\d+)\s.*virtio"


@pytest.fixture(scope="module")
def machine():
    with booted_linux("virtio") as machine:
        yield machine


def test_the_driver_has_found_its_device(machine):
    ask(machine, "cat /sys/class/misc/hw_random/rng_current", r"^virtio_rng\.0$")


def test_random_bytes_come_and_interrupts_count(machine):
    """Two blocks of 2 KiB directly from the device, without the kernel's generator, must differ."""
    before = ask(machine, "grep virtio /proc/interrupts", INTERRUPTS)
    sums = []
    for _ in range(2):
        found = ask(
            machine, "dd if=/dev/hwrng bs=64 count=32 2>/dev/null | tee /tmp/r | md5sum", r"^([0-9a-f]{32})  -$"
        )
        size = ask(machine, "wc -c </tmp/r; gzip -c /tmp/r | wc -c", r"^(\d+)\n(?:.*\n)*?(\d+)\n")
        assert int(size[1]) == 2048
        assert int(size[2]) > 2000, "random bytes cannot be compressed"
        sums.append(found[1])
    assert sums[0] != sums[1]
    after = ask(machine, "grep virtio /proc/interrupts", INTERRUPTS)
    assert int(after[1]) > int(before[1])


def test_the_guest_restarts_with_its_device(machine):
    """The device is reset with the VM or by the driver, and works again."""
    machine.skip("linux")
    machine.send("reboot\r")
    machine.expect(HYPERVISOR, r"^linux stopped by its own reset, starts again$", BOOT_S)
    machine.expect("linux", "tessera: linux is up", BOOT_S)
    machine.expect("linux", LINUX_PROMPT, BOOT_S)
    ask(machine, "dd if=/dev/hwrng bs=64 count=4 2>/dev/null | wc -c", r"^256$")
    assert not re.search(r"Oops|BUG:|Call Trace", machine.console.text("linux"))


def test_poweroff(machine):
    machine.send("poweroff\r")
    assert machine.status(SOON_S) == 0


def test_the_page_of_a_device_is_not_executable():
    """It can be read, but an instruction fetched there is an access fault, not an illegal instruction."""
    system = built_with_harts("trio", 3, 'vms { first { devices = "virtio-mmio0"; }; };')
    with booted(system, "passthrough-execute") as machine:
        machine.expect("first", r"^misbehave: alive 1$", BOOT_S)
        tell(machine, "first", "peek 10001000")
        machine.expect("first", r"^misbehave: word at 0x10001000 is 0x74726976$", SOON_S)
        tell(machine, "first", "jump 10001000")
        machine.expect("first", caught(RISCV, "jump", 0x10001000), SOON_S)
