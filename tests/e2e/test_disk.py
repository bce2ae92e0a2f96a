# SPDX-License-Identifier: Apache-2.0
"""
Debian's U-Boot in a VM finds a virtual disk with a partition and boots Debian's kernel from it: `make run SYSTEM=disk`.
The VM has no other image than U-Boot.
"""

import hashlib
from collections.abc import Iterator

import pytest
from helpers import BOOT_S, GUESTS, LINUX_PROMPT, SOON_S, ask, booted, built, command, wait_for_signs_of_life

from tessera.run.machine import HYPERVISOR, Machine
from tessera.run.runner import BuiltSystem

MIB = 1 << 20
DISK_MIB = 64
VM = "linux"


@pytest.fixture(scope="module")
def system() -> BuiltSystem:
    return built("disk")


@pytest.fixture(scope="module")
def machine(system: BuiltSystem) -> Iterator[Machine]:
    with booted(system, "disk") as machine:
        machine.console.shared = True  # the lines have the VM's name
        wait_for_signs_of_life(machine, system)
        machine.expect(VM, LINUX_PROMPT, BOOT_S)
        yield machine


def lives(machine: Machine) -> int:
    return int(ask(machine, "cat /mnt/lives", r"^(\d+)$")[1])


def test_the_vm_has_uboot_only(system):
    [vm] = system.data["vms"]
    assert vm["image"]["path"].endswith("uboot/u-boot.bin")
    assert vm["initrd"] is None
    assert [load["what"] for load in vm["loads"]] == ["image", "device tree"]


def test_uboot_finds_the_disk(machine):
    """Without a command of its operator."""
    said = machine.console.finished(VM)
    for line in ("VirtIO Block Device", f"Capacity: {DISK_MIB}.0 MB", "Scanning virtio 0:1...", "Starting kernel ..."):
        assert line in said
    assert "Found /boot/extlinux/extlinux.conf\n" in said


def test_linux_was_loaded_from_the_disk(machine):
    """The file on the disk is Debian's kernel, and the one that runs names the command line of the disk's file."""
    kernel = hashlib.sha256((GUESTS / "linux/Image").read_bytes()).hexdigest()
    ask(machine, "sha256sum /mnt/boot/vmlinuz", rf"^{kernel}  /mnt/boot/vmlinuz$")
    ask(machine, "cat /proc/cmdline", r"^console=ttyS0 cryptomgr\.notests quiet$")
    ask(machine, "cat /sys/block/vda/size", rf"^{DISK_MIB * MIB // 512}$")


def test_files_survive_a_restart_of_the_vm(machine):
    """U-Boot boots Linux again from the disk, which Linux has changed."""
    before = lives(machine)
    ask(machine, "head -c 300000 /dev/urandom >/mnt/file; sync; echo status $?", r"^status 0$")
    expected = ask(machine, "sha256sum /mnt/file", r"^([0-9a-f]{64})  /mnt/file$")[1]
    machine.skip(VM)
    command(machine, "r")
    machine.expect(HYPERVISOR, rf"^{VM} stopped by the console, starts again", SOON_S)
    machine.expect(VM, r"^Starting kernel \.\.\.$", BOOT_S)
    machine.expect(VM, rf"^disk: life {before + 1}$", BOOT_S)
    machine.expect(VM, LINUX_PROMPT, BOOT_S)
    ask(machine, "sha256sum /mnt/file", rf"^{expected}  /mnt/file$")
    assert lives(machine) == before + 1


def test_reboot(machine):
    """Linux reboots the VM, and U-Boot boots it from the disk."""
    before = lives(machine)
    machine.skip(VM)
    machine.send("reboot\r")
    machine.expect(VM, rf"^disk: life {before + 1}$", BOOT_S)
    machine.expect(VM, LINUX_PROMPT, BOOT_S)
