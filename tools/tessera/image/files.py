# SPDX-License-Identifier: Apache-2.0
"""Reads the files that a system names, and checks their formats."""

import os
import stat
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tessera.image.model import File
from tessera.image.prop_types import size_text
from tessera.image.validate import Read

LARGEST = 1 << 32  # bytes of a file in an image, even if the VM's RAM is larger
LARGEST_BITSTREAM = 16 << 20  # a whole Kintex-7 325T takes 11 MiB
_NOT_REGULAR = {
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFCHR: "a character device",
    stat.S_IFBLK: "a block device",
    stat.S_IFSOCK: "a socket",
}
_LINUX_MAGIC = (0x30, b"RISCV\0\0\0")
_LINUX_MAGIC2 = (0x38, b"RSC\x05")
_NOT_RAW = {
    b"\x7fELF": "an ELF file (objcopy -O binary makes a raw one)",
    b"\x1f\x8b": "a gzip-compressed file (gunzip it)",
    b"\xfd7zXZ": "an xz-compressed file (unxz it)",
    b"\x28\xb5\x2f\xfd": "a zstd-compressed file (unzstd it)",
    b"\xd0\x0d\xfe\xed": "a flattened device tree or FIT image",
    b"MZ\0\0": "an EFI application without a RISC-V Linux header",
}


@dataclass(frozen=True)
class LinuxHeader:
    """The header of a RISC-V Linux Image."""

    text_offset: int
    image_size: int  # with bss


def linux_header(data: bytes) -> LinuxHeader | None:
    """Returns the header if `data` is a Linux Image, else None."""
    if len(data) < 64 or not any(data.startswith(magic, at) for at, magic in (_LINUX_MAGIC, _LINUX_MAGIC2)):
        return None
    text_offset, image_size = struct.unpack_from("<QQ", data, 8)
    return LinuxHeader(text_offset, image_size)


def places_of(node: Read, prop: str, name: str, search: tuple[Path, ...]) -> list[Path]:
    """Returns the possible paths of the file `name` of a property: relative to the source that sets the
    property, then to `search`."""
    source = Path(node.places[prop].file)
    return list(dict.fromkeys(directory / name for directory in (source.parent, *search)))


def first_there(node: Read, prop: str, name: str, search: tuple[Path, ...]) -> Path | None:
    """Returns the first of places_of() that exists, None if none does."""
    return next((path for path in places_of(node, prop, name, search) if os.path.lexists(path)), None)


def find_file(node: Read, prop: str, name: str, search: tuple[Path, ...]) -> Path | None:
    """Returns the file `name` of `prop` (places_of()); None, with a problem, if it is no regular
    file or is empty."""
    path = first_there(node, prop, name, search)
    if path is None:
        places = ", ".join(map(str, places_of(node, prop, name, search)))
        node.problem(prop, f'expected a file, got "{name}", which does not exist; looked for {places}')
        return None
    try:
        status = path.stat()
    except OSError as error:
        node.problem(prop, f'expected a readable file, got "{name}": {error.strerror}')
        return None
    if not stat.S_ISREG(status.st_mode):
        what = _NOT_REGULAR.get(stat.S_IFMT(status.st_mode), "something else")
        node.problem(prop, f'expected a regular file, got "{name}", {what}')
        return None
    if status.st_size == 0:
        node.problem(prop, f'expected a file that is not empty, got "{name}"')
        return None
    return path


def load_file(node: Read, prop: str, search: tuple[Path, ...]) -> File | None:
    """Like find_file, with the content, for a file of the VM `node`. A file larger than the VM's
    RAM is not read."""
    path = find_file(node, prop, node[prop], search)
    if path is None:
        return None
    room, size = min(node["memory-size"], LARGEST), path.stat().st_size
    if size > room:
        node.problem(prop, f'expected it to fit the RAM, at most {size_text(room)}, got "{node[prop]}" of {size} bytes')
        return None
    return _read_file(node, prop, path)


def load_bitstream(node: Read, name: str, search: tuple[Path, ...]) -> File | None:
    """Like find_file, with the content, for a file of the property `bitstreams`."""
    path = find_file(node, "bitstreams", name, search)
    if path is None:
        return None
    size = path.stat().st_size
    if size > LARGEST_BITSTREAM:
        got = f'got "{name}" of {size} bytes'
        node.problem("bitstreams", f"expected at most {size_text(LARGEST_BITSTREAM)}, {got}")
        return None
    return _read_file(node, "bitstreams", path)


def load_disk(node: Read, prop: str, search: tuple[Path, ...]) -> File | None:
    """Like find_file, with the content, for the first content of the disk `node`. A file larger than the disk is not
    read."""
    path = find_file(node, prop, node[prop], search)
    if path is None:
        return None
    room, size = min(node["size"] or LARGEST, LARGEST), path.stat().st_size
    if size > room:
        expected = f"expected it to fit the disk, at most {size_text(room)}"
        node.problem(prop, f'{expected}, got "{node[prop]}" of {size} bytes')
        return None
    return _read_file(node, prop, path)


def _read_file(node: Read, prop: str, path: Path) -> File | None:
    try:
        return File(path, path.read_bytes())
    except OSError as error:
        node.problem(prop, f'expected a readable file, got "{path}": {error.strerror}')
        return None


def load_image(node: Read, prop: str, search: tuple[Path, ...]) -> File | None:
    """Like load_file; reports known formats that are not a raw binary."""
    file = load_file(node, prop, search)
    if file is None or linux_header(file.data):
        return file
    for magic, what in _NOT_RAW.items():
        if file.data.startswith(magic):
            node.problem(prop, f'expected a raw binary, got "{node[prop]}", {what}')
            return None
    return file


def file_facts(file: File | None) -> dict[str, Any] | None:
    """Returns what system.json has of a file."""
    if file is None:
        return None
    return {"path": str(file.path), "size": len(file.data), "sha256": file.sha256}
