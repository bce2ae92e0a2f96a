#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds a disk image: a partition table (MBR) with one bootable partition, an ext4 file system with files of a folder.

No step needs root privileges: mke2fs fills the file system, and debugfs sets the owners of its files.
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
NO_CHS = b"\xfe\xff\xff"  # for addresses beyond those of cylinders, heads and sectors
UUID = "7e55e7a0-0000-4000-8000-000000000001"
SBIN = "/usr/sbin:/sbin"

Owner = tuple[int, int]  # user and group


class BuildError(Exception):
    """An invalid input or a tool that failed, as a message of one line."""


def run(command: list[str], text: str = "") -> None:
    """Runs a tool of e2fsprogs, which a user's PATH may lack."""
    path = shutil.which(command[0], path=f"{os.environ.get('PATH', '')}:{SBIN}")
    if path is None:
        raise BuildError(f"the program '{command[0]}' is not installed (apt-get install e2fsprogs)")
    done = subprocess.run([path, *command[1:]], input=text, capture_output=True, text=True, check=False)
    # debugfs reports the errors of its commands but exits with 0; it repeats the commands on its standard output.
    complaint = [line for line in done.stderr.splitlines() if not line.startswith(("debugfs ", "mke2fs "))]
    if done.returncode != 0 or complaint:
        raise BuildError(f"{command[0]}: {' '.join(complaint) or f'exit status {done.returncode}'}")


def partition_table(size: int) -> bytes:
    """The first sector of a disk of `size` bytes."""
    entry = struct.pack("<B3sB3sII", 0x80, NO_CHS, LINUX, NO_CHS, START // SECTOR, (size - START) // SECTOR)
    return bytes(446) + entry + bytes(48) + b"\x55\xaa"


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


def build(tree: Path, size: int, output: Path, owners: dict[str, Owner]) -> None:
    """Writes the image of `size` bytes. The files belong to root, except those in `owners`, by their paths."""
    partial = output.with_name(output.name + ".partial")
    with tempfile.TemporaryDirectory() as folder:
        system = Path(folder, "ext4")
        with system.open("wb") as file:
            file.truncate(size - START)
        fixed = f"root_owner=0:0,hash_seed={UUID},lazy_itable_init=0,lazy_journal_init=0"
        command = ["mke2fs", "-q", "-t", "ext4", "-b", "4096", "-m", "0", "-L", "tessera", "-U", UUID, "-E", fixed]
        run([*command, "-d", str(tree), str(system)])
        changes = wanted_owners(tree, owners)
        lines = [f'sif "/{path}" {field} {number}\n' for path, owner in changes.items()
                 for field, number in zip(("uid", "gid"), owner, strict=True)]  # fmt: skip
        if lines:
            run(["debugfs", "-w", "-f", "-", str(system)], "".join(lines))
        with partial.open("wb") as file, system.open("rb") as content:
            file.write(partition_table(size))
            file.seek(START)
            shutil.copyfileobj(content, file, MIB)
    partial.rename(output)


def main() -> int:
    parser = argparse.ArgumentParser(description="Builds a disk image with one partition.")
    parser.add_argument("--size-mib", type=int, required=True, help="of the image")
    parser.add_argument("--file", action="append", default=[], help="path-on-disk=path-here; repeatable")
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
            build(Path(folder), arguments.size_mib * MIB, arguments.output, {})
    except BuildError as error:
        print(f"mkdisk: error: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"mkdisk: error: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
