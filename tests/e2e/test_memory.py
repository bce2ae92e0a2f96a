# SPDX-License-Identifier: Apache-2.0
"""A system with more RAM than its board has by default (`ram-size`), and a VM with two pieces of RAM (`memory`)."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from helpers import BOOT_S, HYPERVISOR_BIN, NEWER_QEMU, ask, booted, booted_linux, built, make, mkimage

from tessera.run.machine import HYPERVISOR, Machine
from tessera.run.runner import BuiltSystem, RunError, find_qemu, load_system, system_command

MIB = 1 << 20
RAM_END = 0x80000000 + 1536 * MIB
LOW, HIGH = 0x80000000, 0x100000000
LOW_MIB, HIGH_MIB = 128, 256
FILE_MIB = 140  # of a file in RAM: more than the first piece
DISK_MIB = 16


@pytest.fixture(scope="module")
def system() -> BuiltSystem:
    return built("memory")


@pytest.fixture(scope="module")
def machine(system: BuiltSystem) -> Iterator[Machine]:
    with booted_linux(system.name) as machine:
        yield machine


def test_place(system):
    """The first piece ends where the machine's RAM does; the other one has a place of its own."""
    [vm] = system.data["vms"]
    [more] = vm["more_memory"]
    assert vm["memory"]["host"] + vm["memory"]["size"] == RAM_END
    assert more["host"] + more["size"] <= vm["memory"]["host"]


def test_the_firmware_agrees(machine):
    """The hypervisor compares the image with the firmware's device tree, and has no complaint."""
    assert "device tree" not in machine.console.text(HYPERVISOR)


def test_linux_finds_both_pieces(machine):
    piece = r"^([0-9a-f]+)-{end:x} : System RAM$"
    first = int(ask(machine, "cat /proc/iomem", piece.format(end=LOW + LOW_MIB * MIB - 1))[1], 16)
    assert LOW <= first < LOW + 4 * MIB  # the kernel lists its own reservations apart
    assert int(ask(machine, "cat /proc/iomem", piece.format(end=HIGH + HIGH_MIB * MIB - 1))[1], 16) == HIGH
    total = int(ask(machine, "cat /proc/meminfo", r"^MemTotal: +(\d+) kB$")[1]) // 1024
    assert HIGH_MIB // 2 + LOW_MIB // 2 < total < HIGH_MIB + LOW_MIB  # the kernel reserves 64 MiB for 32-bit devices


@pytest.mark.long
def test_linux_uses_both_pieces(machine):
    """A file that does not fit the first piece; its last part is read again."""
    ask(machine, "mkdir /mnt; mount -t tmpfs -o size=90% none /mnt; echo status $?", r"^status 0$")
    ask(machine, f"dd if=/dev/zero of=/mnt/file bs=1M count={FILE_MIB - 1}; echo status $?", r"^status 0$")
    ask(machine, "head -c 1048576 /dev/urandom >/tmp/end; cat /tmp/end >>/mnt/file; echo status $?", r"^status 0$")
    ask(machine, "stat -c %s /mnt/file", rf"^{FILE_MIB * MIB}$")
    ask(machine, "tail -c 1048576 /mnt/file | cmp - /tmp/end; echo status $?", r"^status 0$")
    ask(machine, "umount /mnt; echo status $?", r"^status 0$")


def test_disk(machine):
    """Its last MiB is written and read, by DMA from and to RAM of the guest."""
    ask(machine, "head -c 1048576 /dev/urandom >/tmp/end; echo status $?", r"^status 0$")
    ask(machine, f"dd if=/tmp/end of=/dev/vda bs=1M seek={DISK_MIB - 1} conv=fsync; echo status $?", r"^status 0$")
    ask(machine, "echo 3 >/proc/sys/vm/drop_caches; echo status $?", r"^status 0$")
    ask(machine, f"dd if=/dev/vda bs=1M skip={DISK_MIB - 1} | cmp - /tmp/end; echo status $?", r"^status 0$")


# Prints OK by SBI calls, then waits: li a7,1; li a0,'O'; ecall; li a0,'K'; ecall; li a0,10; ecall; 1: wfi; j 1b
PRINTS_OK = bytes.fromhex("85481305f004730000001305b0047300000029457300000073005010f5bf")
HALF, LIMIT = 1 << 40, 1 << 41  # of the guest-physical addresses of Sv39x4


def system_at(folder: Path, base: int) -> BuiltSystem:
    make("hyp")
    (folder / "ok.bin").write_bytes(PRINTS_OK)
    place = f"memory-size = <0x400000>; memory-base = <{base >> 32:#x} {base & 0xFFFFFFFF:#x}>;"
    vm = f'a {{ {place} image = "ok.bin"; sign-of-life = "OK"; }};'
    head = '/dts-v1/; / { compatible = "tessera,system"; board = "qemu-virt"; harts = <1>; '
    (folder / "high.dts").write_text(f"{head} vms {{ {vm} }}; }};\n", encoding="utf-8")
    out = folder / "systems" / "high"
    done = mkimage(folder / "high.dts", "--guests", str(folder), "--hypervisor", str(HYPERVISOR_BIN), "--out", str(out))
    assert done.returncode == 0, done.stderr
    return load_system("high", folder)


@pytest.mark.parametrize(
    ("base", "qemu"),
    [(HALF - 4 * MIB, None), (HALF, NEWER_QEMU), (LIMIT - 4 * MIB, NEWER_QEMU)],
    ids=["2^40 default", "2^40 newer", "2^41 newer"],
)
def test_the_highest_guest_physical_addresses(tmp_path: Path, base: int, qemu: str | None) -> None:
    system = system_at(tmp_path, base)
    with booted(system, f"memory-{base:x}", qemu=qemu) as machine:
        machine.console.shared = True
        machine.expect("a", r"^OK", BOOT_S)


@pytest.mark.parametrize("base", [HALF, HALF - 2 * MIB])
def test_an_older_qemu_is_refused_addresses_that_it_does_not_translate(tmp_path: Path, base: int) -> None:
    system, older = system_at(tmp_path, base), replace(find_qemu(), version=(7, 2))
    with pytest.raises(
        RunError, match=f"no guest-physical address from {HALF:#x} on; a has memory at {base:#x}: use 10.0"
    ):
        system_command(older, system)
