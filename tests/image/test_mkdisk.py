# SPDX-License-Identifier: Apache-2.0
"""Disk images with a partition: the table, the files and their owners."""

import importlib.util
import re
import shutil
import struct
import subprocess

import pytest
from fixtures import ROOT

spec = importlib.util.spec_from_file_location("mkdisk", ROOT / "guests" / "images" / "disk" / "mkdisk.py")
mkdisk = importlib.util.module_from_spec(spec)
spec.loader.exec_module(mkdisk)

MIB = 1 << 20
SIZE = 16 * MIB


@pytest.fixture
def tree(tmp_path):
    folder = tmp_path / "tree"
    (folder / "etc").mkdir(parents=True)
    (folder / "etc" / "a file").write_text("content\n")
    (folder / "link").symlink_to("etc")
    return folder


def file_system(image, tmp_path):
    path = tmp_path / "part"
    path.write_bytes(image.read_bytes()[MIB:])
    return path


def debugfs(path, command):
    program = shutil.which("debugfs", path="/usr/sbin:/sbin:/usr/bin:/bin")
    return subprocess.run([program, "-R", command, str(path)], capture_output=True, text=True, check=True).stdout


def test_partition_table():
    table = mkdisk.partition_table(SIZE)
    assert len(table) == 512
    assert table[510:] == b"\x55\xaa"
    bootable, kind, first, count = struct.unpack("<B3xB3xII", table[446:462])
    assert (bootable, kind, first, count) == (0x80, 0x83, 2048, 15 * 2048)
    assert table[462:510] == bytes(48)


def test_files_and_owners(tree, tmp_path):
    """Those of root, whoever builds, and others."""
    image = tmp_path / "disk.img"
    mkdisk.build(tree, SIZE, image, {"etc/a file": (1000, 42)})
    assert image.stat().st_size == SIZE
    system = file_system(image, tmp_path)
    assert debugfs(system, 'cat "/etc/a file"') == "content\n"
    owners = {
        name: tuple(map(int, re.search(r"User: +(\d+) +Group: +(\d+)", debugfs(system, f'stat "{name}"')).groups()))
        for name in ("/", "/etc", "/etc/a file", "/link")
    }
    assert owners == {"/": (0, 0), "/etc": (0, 0), "/etc/a file": (1000, 42), "/link": (0, 0)}


def test_efi_partition(tree, tmp_path):
    """Behind the file system of Linux, bootable instead of it, with the same content in each build."""
    program, config = tmp_path / "boot.efi", tmp_path / "grub.cfg"
    program.write_bytes(bytes(range(256)) * 64)
    config.write_text("timeout=1\n")
    files = {"EFI/BOOT/BOOTRISCV64.EFI": program, "EFI/debian/grub.cfg": config}
    images = [tmp_path / name for name in ("disk.img", "again.img")]
    for image in images:
        mkdisk.build(tree, 2 * SIZE, image, {}, files)
    first, again = (image.read_bytes() for image in images)
    assert len(first) == 2 * SIZE and first[SIZE:] == again[SIZE:]
    entries = [struct.unpack("<B3xB3xII", first[at : at + 16]) for at in (446, 462)]
    assert entries == [(0, 0x83, 2048, 15 * 2048), (0x80, 0xEF, 16 * 2048, 16 * 2048)]
    assert debugfs(file_system(images[0], tmp_path), 'cat "/etc/a file"') == "content\n"
    drive = f"{images[0]}@@{SIZE}"
    for inside, source in files.items():
        assert subprocess.run(["mtype", "-i", drive, f"::{inside}"], capture_output=True).stdout == source.read_bytes()


def test_efi_files_that_do_not_fit(tree, tmp_path):
    large = tmp_path / "large"
    large.write_bytes(bytes(SIZE))
    with pytest.raises(mkdisk.BuildError, match="mcopy: "):
        mkdisk.build(tree, 2 * SIZE, tmp_path / "disk.img", {}, {"large": large})
    assert not (tmp_path / "disk.img").exists()


def test_files_that_do_not_fit(tree, tmp_path):
    (tree / "large").write_bytes(bytes(range(256)) * (SIZE // 256))
    with pytest.raises(mkdisk.BuildError, match="mke2fs: "):
        mkdisk.build(tree, SIZE, tmp_path / "disk.img", {})
    assert not (tmp_path / "disk.img").exists()
