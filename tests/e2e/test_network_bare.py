# SPDX-License-Identifier: Apache-2.0
"""Virtual PCI functions (docs/networking.md) with the SDK's drivers, beside a VM that floods another network. The same
guest runs natively with QEMU's devices in tests/guests/test_virtio.py."""

import re
from collections.abc import Iterator

import pytest
from helpers import BOOT_S, SOON_S, booted, built, command, keyboard, wait_for_signs_of_life

from tessera.run.machine import HYPERVISOR, Machine

TESTED = {
    "echo": ["rng 0", r"ivshmem 0 of 2097152 bytes in VM 0", "vsock 0", "console 0"],
    "sender": [r"ivshmem 0 of 2097152 bytes in VM 1", "vsock 0", "console 0", "net 0"],
    "poller": ["rng 0", "disk 0 of 8192 sectors", "disk 1 of 4096 sectors, read-only,", "net 0"],
}


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    system = built("network-bare")
    with booted(system, "network-bare") as machine:
        wait_for_signs_of_life(machine, system)
        yield machine


@pytest.mark.parametrize("name", TESTED)
def test_every_function_of_a_vm(machine, name):
    said = machine.console.text(name)
    assert "wrong:" not in said, said
    for what in TESTED[name]:
        assert f"virtio: {what} tested\n" in said, what


def test_frames_come_back(machine):
    for name, size in (("sender", 1514), ("poller", 60)):
        assert f"virtio: net: 200 frames of {size} bytes came back\n" in machine.console.text(name)


def test_stream_comes_back(machine):
    """More than the buffers of both ends."""
    returned = re.findall(r"virtio: vsock: (\d+) bytes returned", machine.console.text("echo"))
    back = re.findall(r"virtio: vsock: (\d+) bytes came back", machine.console.text("sender"))
    assert len(returned) == 1
    assert returned == back
    assert int(back[0]) >= 1 << 20


def test_line_returns_bytes(machine):
    """Those of the greeting, too, which may be lost."""
    returned = re.findall(r"virtio: console: (\d+) bytes returned", machine.console.text("echo"))
    back = re.findall(r"virtio: console: (\d+) bytes came back", machine.console.text("sender"))
    assert len(returned) == len(back) == 1
    assert int(returned[0]) > int(back[0]) >= 1 << 16


def test_doorbells(machine):
    assert "virtio: ivshmem: 100 rounds with VM 1\n" in machine.console.text("echo")
    assert "virtio: ivshmem: 100 rounds with VM 0\n" in machine.console.text("sender")


def test_counters_at_the_console(machine):
    """Ctrl-T p: what has become of the frames of each port."""
    machine.skip(HYPERVISOR)
    command(machine, "p")
    rows = {}
    for name in ("echo", "sender", "poller", "alone"):
        row = machine.expect(HYPERVISOR, rf"^{name} +\d+ +(\d+) +(\d+) +(\d+) +(\d+) +(\d+) +(\d+)$", SOON_S)
        rows[name] = [int(number) for number in row.groups()]
        assert rows[name][2:4] == [0, 0], "no frame is spoofed or over a limit"
    assert rows["alone"][0] > 0
    assert rows["alone"][1] == 0, "nobody is in its network"
    assert min(rows["echo"][:2]) >= 400
    for name in ("sender", "poller"):
        assert min(rows[name][:2]) >= 200
    machine.expect(HYPERVISOR, r"^console +bytes sent +dropped$", SOON_S)
    for name in ("echo", "sender"):
        assert int(machine.expect(HYPERVISOR, rf"^{name} +\d+ +(\d+) +\d+$", SOON_S)[1]) >= 1 << 16


def test_restart_of_a_vm(machine):
    """Its functions begin anew, and so do its frames to the VM that goes on."""
    keyboard(machine, "poller")
    machine.skip("poller")
    command(machine, "g")
    machine.expect("poller", r"^virtio: net: 200 frames of 60 bytes came back$", BOOT_S)
    machine.expect("poller", r"^virtio: done, 0 wrong$", BOOT_S)
