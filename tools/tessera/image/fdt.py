# SPDX-License-Identifier: Apache-2.0
"""Flattened device trees: compiles a source, and finds the offsets of property values in the
blob."""

import struct
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

from tessera.image.problems import BuildError

_MAGIC = 0xD00DFEED
_BEGIN_NODE, _END_NODE, _PROP, _NOP, _END = 1, 2, 3, 4, 9


@dataclass(frozen=True)
class Value:
    """The value of a property: `data` at `offset` bytes from the blob's start, its name at
    `name_offset`."""

    path: str
    name: str
    offset: int
    data: bytes
    name_offset: int


def compile_dts(text: str, name: str, room: int = 0) -> bytes:
    """Compiles a device tree with `room` free bytes at its end. A warning of dtc is an error too, because the builder
    has written the source."""
    try:
        command = ["dtc", "-p", str(room), "-I", "dts", "-O", "dtb", "-"]
        done = subprocess.run(command, input=text.encode(), capture_output=True, check=False)
    except FileNotFoundError:
        raise BuildError("dtc: expected the device tree compiler (apt-get install device-tree-compiler)") from None
    if done.returncode != 0 or done.stderr:
        complaint = " ".join(done.stderr.decode(errors="replace").split())
        raise BuildError(f"{name}: expected a device tree that dtc accepts, got: {complaint}")
    return done.stdout


def values(blob: bytes) -> Iterator[Value]:
    """Yields every property of the blob, in order."""
    magic, _, struct_at, strings_at = struct.unpack_from(">4I", blob)
    if magic != _MAGIC:
        raise ValueError("not a flattened device tree")
    at = struct_at
    path: list[str] = []
    while True:
        (token,) = struct.unpack_from(">I", blob, at)
        at += 4
        if token == _BEGIN_NODE:
            name = _string(blob, at)
            path.append(name)
            at += (len(name) + 4) & ~3
        elif token == _END_NODE:
            path.pop()
        elif token == _PROP:
            size, name_at = struct.unpack_from(">2I", blob, at)
            at += 8
            name_at += strings_at
            yield Value("/".join(path) or "/", _string(blob, name_at), at, blob[at : at + size], name_at)
            at += (size + 3) & ~3
        elif token == _END:
            return
        elif token != _NOP:
            raise ValueError(f"unknown token {token:#x} in a flattened device tree")


def _string(blob: bytes, at: int) -> str:
    return blob[at : blob.index(b"\0", at)].decode()
