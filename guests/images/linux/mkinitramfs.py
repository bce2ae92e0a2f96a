#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the Linux guest's initramfs: Debian's static busybox, our /init and programs, and the kernel's modules.

The modules are taken from the initrd of the Debian installer, which is fetched with the kernel. Those of --module, and
the modules that they depend on, are taken from the kernel's package, because the installer lacks them. The archive is
written directly (newc format), which needs neither root nor a staging folder and makes the output reproducible.
"""

from __future__ import annotations

import argparse
import re
import stat
import struct
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

try:
    import lzma
except ImportError:  # a Python built without liblzma
    lzma = None  # type: ignore[assignment]

HERE = Path(__file__).resolve().parent
MODULES = ["virtio_mmio", "virtio-rng"]
FOLDERS = ["bin", "dev", "etc", "lib", "lib/modules", "proc", "root", "sys", "tmp"]


class BuildError(Exception):
    """An invalid input, as a message of one line."""


def gunzip_members(data: bytes) -> bytes:
    """Unpacks concatenated gzip members, ignoring the zero padding between and after them."""
    out = []
    while data:
        stream = zlib.decompressobj(wbits=31)
        out.append(stream.decompress(data))
        data = stream.unused_data.lstrip(b"\0")
    return b"".join(out)


def cpio_files(archive: bytes) -> Iterator[tuple[str, bytes]]:
    """Yields the path and content of each regular file of a newc archive."""
    offset = 0
    while archive[offset : offset + 6] == b"070701":
        fields = [int(archive[offset + 6 + 8 * i : offset + 14 + 8 * i], 16) for i in range(13)]
        mode, size, name_size = fields[1], fields[6], fields[11]
        name = archive[offset + 110 : offset + 110 + name_size - 1].decode()
        start = (offset + 110 + name_size + 3) & ~3
        offset = (start + size + 3) & ~3
        if stat.S_ISREG(mode):
            yield name, archive[start : start + size]


class CpioWriter:
    """A newc archive in which every file belongs to root and has no date."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.inode = 0

    def add(self, path: str, mode: int, content: bytes = b"", device: tuple[int, int] = (0, 0)) -> None:
        self.inode += 1
        name = path.encode() + b"\0"
        fields = [self.inode, mode, 0, 0, 1, 0, len(content), 0, 0, device[0], device[1], len(name), 0]
        self._aligned(b"070701" + b"".join(b"%08X" % field for field in fields) + name)
        self._aligned(content)

    def _aligned(self, chunk: bytes) -> None:
        self.data += chunk
        self.data += bytes(-len(self.data) % 4)

    def finish(self) -> bytes:
        self.inode = -1
        self.add("TRAILER!!!", 0)
        return bytes(self.data) + bytes(-len(self.data) % 512)


def busybox_applets(binary: bytes) -> list[str]:
    """The names of busybox's applets: its sorted, NUL-separated table starts with `[` and `[[`."""
    start = binary.find(b"[\0[[\0")
    end = binary.find(b"\0\0", start)
    names = binary[start:end].decode("ascii", errors="replace").split("\0") if start >= 0 else []
    if not {"sh", "mount", "cttyhack", "setsid", "poweroff", "insmod"} <= set(names):
        raise BuildError("busybox: a command that /init needs is missing, or the table of applets was not found")
    return names


def kernel_release(image: bytes) -> str:
    found = re.search(rb"Linux version (\S+) \(", image)
    if not found:
        raise BuildError("the kernel image does not say 'Linux version ...'; is it compressed?")
    return found[1].decode()


def find_modules(initrd: bytes, release: str) -> dict[str, bytes]:
    """The modules to load, from the installer's initrd; they must belong to this kernel."""
    if lzma is None:
        raise BuildError("this python3 has no lzma module; use the distribution's (apt-get install python3)")
    found = {}
    for path, content in cpio_files(gunzip_members(initrd)):
        name = Path(path).name.removesuffix(".xz").removesuffix(".ko")
        if name in MODULES and f"/{release}/" in path:
            found[name] = lzma.decompress(content) if path.endswith(".xz") else content
    missing = [name for name in MODULES if name not in found]
    if missing:
        raise BuildError(f"the installer's initrd has no module {missing[0]} for kernel {release}")
    return found


def read_module(name: str, folder: Path, release: str) -> bytes:
    """A module of the kernel's package, unpacked in `folder`."""
    found = sorted((folder / "usr/lib/modules" / release).rglob(f"{name}.ko*"))
    if not found:
        raise BuildError(f"{folder} has no module {name} for kernel {release} (is linux-image of this release pinned?)")
    content = found[0].read_bytes()
    return lzma.decompress(content) if found[0].suffix == ".xz" else content


def with_dependencies(names: list[str], folder: Path, release: str) -> dict[str, bytes]:
    """The modules and those that they depend on, in the order in which they can be loaded."""
    ordered: dict[str, bytes] = {}

    def add(name: str) -> None:
        if name not in ordered:
            content = read_module(name, folder, release)
            depends = re.search(rb"\0depends=([^\0]*)\0", content)
            for needed in filter(None, depends[1].decode().split(",") if depends else []):
                add(needed)
            ordered[name] = content

    for name in names:
        add(name)
    return ordered


def tree(place: str) -> dict[str, bytes]:
    """The files of `DESTINATION=SOURCE`, a folder or a file, by their paths in the archive."""
    destination, equals, source = place.partition("=")
    if not (destination and equals and source):
        raise BuildError(f"--tree: expected DESTINATION=SOURCE, got {place}")
    top = Path(source)
    if not top.is_dir():
        return {destination: top.read_bytes()}
    found = sorted(path for path in top.rglob("*") if path.is_file())
    return {f"{destination}/{path.relative_to(top).as_posix()}": path.read_bytes() for path in found}


def further_folders(files: dict[str, bytes]) -> list[str]:
    """The folders of files that are not in FOLDERS, each behind the one that contains it."""
    parents = {parent.as_posix() for path in files for parent in Path(path).parents}
    return sorted(parents - {".", *FOLDERS})


def build(
    busybox: bytes, files: dict[str, bytes], modules: dict[str, bytes], started: dict[str, bytes], start: bytes
) -> bytes:
    """The archive; /init loads the modules `started` and then runs the script `start`, if there is one. `files` are
    programs and libraries."""
    cpio = CpioWriter()
    for folder in FOLDERS:
        cpio.add(folder, stat.S_IFDIR | 0o755)
    cpio.add("dev/console", stat.S_IFCHR | 0o600, device=(5, 1))  # the kernel opens it before /init runs
    cpio.add("init", stat.S_IFREG | 0o755, (HERE / "init").read_bytes())
    for name in ("profile", "motd"):
        cpio.add(f"etc/{name}", stat.S_IFREG | 0o644, (HERE / name).read_bytes())
    cpio.add("bin/busybox", stat.S_IFREG | 0o755, busybox)
    for name in busybox_applets(busybox):
        if name != "busybox":
            cpio.add(f"bin/{name}", stat.S_IFLNK | 0o777, b"busybox")
    for folder in further_folders(files):
        cpio.add(folder, stat.S_IFDIR | 0o755)
    for path, content in files.items():
        cpio.add(path, stat.S_IFREG | 0o755, content)
    for name, content in (modules | started).items():
        cpio.add(f"lib/modules/{name}.ko", stat.S_IFREG | 0o644, content)
    if start:
        cpio.add("etc/modules", stat.S_IFREG | 0o644, "".join(f"{name}\n" for name in started).encode())
        cpio.add("etc/start", stat.S_IFREG | 0o644, start)
    return cpio.finish()


def gzip_undated(data: bytes) -> bytes:
    """Gzip format without the date and the name of the system, which depend on the Python version."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    body = deflate.compress(data) + deflate.flush()
    return b"\x1f\x8b\x08" + bytes(5) + b"\x02\xff" + body + struct.pack("<II", zlib.crc32(data), len(data))


def main() -> int:
    parser = argparse.ArgumentParser(description="Builds the Linux guest's initramfs.")
    parser.add_argument("--kernel", type=Path, required=True, help="the kernel image the initramfs is for")
    parser.add_argument("--installer-initrd", type=Path, required=True, help="holds the kernel's modules")
    parser.add_argument("--busybox", type=Path, required=True, help="a static riscv64 busybox")
    parser.add_argument("--program", type=Path, action="append", default=[], help="a program for /bin; repeatable")
    parser.add_argument(
        "--library", type=Path, action="append", default=[], help="a shared library for /lib; repeatable"
    )
    parser.add_argument(
        "--tree",
        metavar="DESTINATION=SOURCE",
        action="append",
        default=[],
        help="a file, or the files of a folder, for this path in the archive; repeatable",
    )
    parser.add_argument("--module", action="append", default=[], help="a further module, loaded by /init; repeatable")
    parser.add_argument("--kernel-package", type=Path, help="an unpacked linux-image, which holds these modules")
    parser.add_argument("--start", type=Path, help="a script that /init runs when they are loaded")
    parser.add_argument("--output", type=Path, required=True, help="initramfs.cpio.gz")
    arguments = parser.parse_args()
    try:
        release = kernel_release(arguments.kernel.read_bytes())
        modules = find_modules(arguments.installer_initrd.read_bytes(), release)
        files = {f"bin/{path.name}": path.read_bytes() for path in arguments.program}
        files |= {f"lib/{path.name}": path.read_bytes() for path in arguments.library}
        for place in arguments.tree:
            files |= tree(place)
        started = with_dependencies(arguments.module, arguments.kernel_package, release)
        start = arguments.start.read_bytes() if arguments.start else b""
        data = build(arguments.busybox.read_bytes(), files, modules, started, start)
        arguments.output.write_bytes(gzip_undated(data))
    except BuildError as error:
        print(f"mkinitramfs: error: {error}", file=sys.stderr)
        return 1
    except (zlib.error, ValueError) as error:
        print(f"mkinitramfs: error: {arguments.installer_initrd}: not a gzipped newc archive: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"mkinitramfs: error: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
