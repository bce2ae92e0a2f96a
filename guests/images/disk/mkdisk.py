#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds a disk image: a partition table (MBR), an ext4 file system with files of a folder, and behind it an EFI
partition (FAT) if files for it are given. The EFI partition is the bootable one, if there is one.

No step needs root privileges: mke2fs fills the ext4 file system, debugfs sets the owners of its files, and the mtools
fill the EFI partition.
"""

from __future__ import annotations

import argparse
import os
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

MIB = 1 << 20
SECTOR = 512
START = MIB  # of the partition
LINUX = 0x83  # its type
EFI = 0xEF  # type of the EFI partition
EFI_SIZE = 16 * MIB
MTOOLS = {"SOURCE_DATE_EPOCH": "1767225600", "TZ": "UTC", "MTOOLS_SKIP_CHECK": "1"}  # fixed times of files
NO_CHS = b"\xfe\xff\xff"  # for addresses beyond those of cylinders, heads and sectors
UUID = "7e55e7a0-0000-4000-8000-000000000001"
SBIN = "/usr/sbin:/sbin"

Owner = tuple[int, int]  # user and group


class BuildError(Exception):
    """An invalid input or a tool that failed, as a message of one line."""


def run(
    command: list[str], text: str = "", package: str = "e2fsprogs", variables: dict[str, str] | None = None
) -> None:
    """Runs a tool of e2fsprogs, which a user's PATH may lack, or of another package."""
    path = shutil.which(command[0], path=f"{os.environ.get('PATH', '')}:{SBIN}")
    if path is None:
        raise BuildError(f"the program '{command[0]}' is not installed (apt-get install {package})")
    environment = {**os.environ, **(variables or {})}
    done = subprocess.run(
        [path, *command[1:]], input=text, env=environment, capture_output=True, text=True, check=False
    )
    # debugfs reports the errors of its commands but exits with 0; it repeats the commands on its standard output.
    complaint = [line for line in done.stderr.splitlines() if not line.startswith(("debugfs ", "mke2fs "))]
    if done.returncode != 0 or complaint:
        raise BuildError(f"{command[0]}: {' '.join(complaint) or f'exit status {done.returncode}'}")


def partition_table(size: int, efi: bool = False) -> bytes:
    """The first sector of a disk of `size` bytes."""

    def entry(bootable: bool, kind: int, first: int, end: int) -> bytes:
        place = (first // SECTOR, (end - first) // SECTOR)
        return struct.pack("<B3sB3sII", 0x80 if bootable else 0, NO_CHS, kind, NO_CHS, *place)

    border = size - EFI_SIZE if efi else size
    last = entry(True, EFI, border, size) if efi else bytes(16)
    return bytes(446) + entry(not efi, LINUX, START, border) + last + bytes(32) + b"\x55\xaa"


def make_efi(path: Path, files: dict[str, Path]) -> None:
    """Writes an EFI partition with these files, by their paths in it."""

    def mtool(name: str, *arguments: str) -> None:
        run([name, "-i", str(path), *arguments], package="mtools", variables=MTOOLS)

    with path.open("wb") as file:
        file.truncate(EFI_SIZE)
    mtool("mformat", "-T", str(EFI_SIZE // SECTOR), "-h", "64", "-s", "32", "-N", "54455353", "-v", "EFI", "::")
    folders = {str(parent) for inside in files for parent in Path(inside).parents} - {"."}
    for folder in sorted(folders):
        mtool("mmd", f"::{folder}")
    for inside, source in files.items():
        mtool("mcopy", str(source), f"::{inside}")


def wanted_owners(tree: Path, owners: dict[str, Owner]) -> dict[str, Owner]:
    """The files whose owner in the image would be wrong: mke2fs keeps the owners of the folder's files."""
    wanted = {}
    for folder, folders, files in os.walk(tree):
        for name in (*folders, *files):
            path = Path(folder, name)
            inside, status = str(path.relative_to(tree)), path.lstat()
            owner = owners.get(inside, (0, 0))
            if owner != (status.st_uid, status.st_gid):
                wanted[inside] = owner
    return wanted


def make_ext4(system: Path, size: int, tree: Path, owners: dict[str, Owner]) -> None:
    """Writes a file system of `size` bytes with the files of the folder."""
    with system.open("wb") as file:
        file.truncate(size)
    fixed = f"root_owner=0:0,hash_seed={UUID},lazy_itable_init=0,lazy_journal_init=0"
    command = ["mke2fs", "-q", "-t", "ext4", "-b", "4096", "-m", "0", "-L", "tessera", "-U", UUID, "-E", fixed]
    run([*command, "-d", str(tree), str(system)])
    changes = wanted_owners(tree, owners)
    lines = [f'sif "/{path}" {field} {number}\n' for path, owner in changes.items()
             for field, number in zip(("uid", "gid"), owner, strict=True)]  # fmt: skip
    if lines:
        run(["debugfs", "-w", "-f", "-", str(system)], "".join(lines))


def build(tree: Path, size: int, output: Path, owners: dict[str, Owner], efi: dict[str, Path] | None = None) -> None:
    """
    Writes the image of `size` bytes. The files belong to root, except those in `owners`, by their paths. `efi`: the
    files of the EFI partition, which is the last part of `size`.
    """
    partial = output.with_name(output.name + ".partial")
    with tempfile.TemporaryDirectory() as folder:
        parts = [Path(folder, "ext4")]
        make_ext4(parts[0], size - START - (EFI_SIZE if efi else 0), tree, owners)
        if efi:
            parts.append(Path(folder, "efi"))
            make_efi(parts[1], efi)
        with partial.open("wb") as file:
            file.write(partition_table(size, bool(efi)))
            file.seek(START)
            for part in parts:
                with part.open("rb") as content:
                    shutil.copyfileobj(content, file, MIB)
    partial.rename(output)


def main() -> int:
    parser = argparse.ArgumentParser(description="Builds a disk image with a partition of Linux, and one for EFI.")
    parser.add_argument("--size-mib", type=int, required=True, help="of the image")
    parser.add_argument("--file", action="append", default=[], help="path-on-disk=path-here; repeatable")
    efi = "path-on-partition=path-here: a file of the EFI partition; repeatable"
    parser.add_argument("--efi", action="append", default=[], help=efi)
    parser.add_argument("--output", type=Path, required=True, help="the image")
    arguments = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory() as folder:
            for pair in arguments.file:
                inside, _, source = pair.partition("=")
                path = Path(folder, inside)
                path.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, path)
                path.chmod(0o644)
            efi = {inside: Path(source) for inside, _, source in (pair.partition("=") for pair in arguments.efi)}
            build(Path(folder), arguments.size_mib * MIB, arguments.output, {}, efi)
    except BuildError as error:
        print(f"mkdisk: error: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"mkdisk: error: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
