# SPDX-License-Identifier: Apache-2.0
"""
Debian's U-Boot in a VM finds a virtual disk with an EFI partition and starts Debian's GRUB, which boots Debian's kernel
from another partition: `make run SYSTEM=grub`. The VM has no other image than U-Boot.
"""

import hashlib

import pytest
from helpers import BOOT_S, GUESTS, LINUX_PROMPT, ask, booted, built, wait_for_signs_of_life

VM = "linux"


@pytest.mark.long  # U-Boot with a disk: test_disk.py
def test_uboot_starts_grub_which_boots_linux():
    """Without a command of its operator. The file on the disk is Debian's kernel, and GRUB's command line is in use."""
    system = built("grub")
    [vm] = system.data["vms"]
    assert [load["what"] for load in vm["loads"]] == ["image", "device tree"]
    with booted(system, "grub") as machine:
        machine.console.shared = True  # the lines have the VM's name
        wait_for_signs_of_life(machine, system)
        machine.expect(VM, LINUX_PROMPT, BOOT_S)
        said = machine.console.finished(VM)
        for line in ("Scanning virtio 0:2...", "Booting: virtio 0", "GNU GRUB", "Booting `linux'"):
            assert line in said
        kernel = hashlib.sha256((GUESTS / "linux/Image").read_bytes()).hexdigest()
        ask(machine, "sha256sum /mnt/boot/vmlinuz", rf"^{kernel}  /mnt/boot/vmlinuz$")
        ask(machine, "cat /proc/cmdline", r"^BOOT_IMAGE=/boot/vmlinuz console=ttyS0 cryptomgr\.notests quiet$")
