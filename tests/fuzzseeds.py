#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Writes seeds for two fuzzers. FOLDER/image, for the reader of system images: the images of system files, small
enough to boot on the host many times a second; memory regions are reduced to 2 MiB, payloads to some bytes; the
guests need not be built. FOLDER/virtio, for the drivers of PCI functions: random bytes, many steps of drivers each,
because the fuzzer begins with inputs of few bytes. Usage: fuzzseeds.py FOLDER SYSTEM.dts...
"""

import random
import sys
import tempfile
from pathlib import Path
from typing import cast

from partials import put_partial

from tessera.cheader import Record
from tessera.fabric.bitstream import of_file
from tessera.image import layout
from tessera.image.build import Options, build
from tessera.image.system import named_files

ROOT = Path(__file__).resolve().parent.parent

LARGE = 0x200000
PAYLOAD = 64  # bytes of each
RAM_BASE = 0x80000000  # arch/host/host.h
DRIVERS = 40  # seeds of drivers
DRIVERS_SIZE = 1500  # bytes of each: more than a hundred steps


class Shrinker:
    """Reduces the sizes in an image; the structure of its tables does not change."""

    def __init__(self, image: bytes) -> None:
        self.header = layout.HEADER.unpack(image)
        self.image = bytearray(image[: self.number(self.header, "config_size")])
        self.payload = (len(self.image) + layout.PAGE - 1) // layout.PAGE * layout.PAGE
        self.used = 0  # bytes of RAM
        self.shared: dict[int, int] = {}

    @staticmethod
    def number(values: dict[str, int | bytes], field: str) -> int:
        return cast(int, values[field])

    def put(self, record: Record, at: int, **changes: int) -> None:
        values = record.unpack(bytes(self.image), at) | changes
        self.image[at : at + record.size] = record.pack(**values)

    def _take(self) -> int:
        self.used += LARGE
        return RAM_BASE + self.used - LARGE

    def region(self, at: int) -> None:
        values = layout.REGION.unpack(bytes(self.image), at)
        kind, detail = self.number(values, "kind"), self.number(values, "detail")
        if kind == layout.REGION_SHARED:
            if detail not in self.shared:
                self.shared[detail] = self._take()
            self.put(layout.REGION, at, hpa=self.shared[detail], size=LARGE)
        elif kind == layout.REGION_RAM:
            self.put(layout.REGION, at, hpa=self._take(), size=LARGE)

    def vm(self, at: int) -> None:
        values = layout.VM.unpack(bytes(self.image), at)
        regions = self.number(values, "regions_offset")
        for index in range(self.number(values, "nregions")):
            self.region(regions + index * layout.REGION.size)
        base = self.number(layout.REGION.unpack(bytes(self.image), regions), "gpa")
        for index in range(self.number(values, "nloads")):
            load = self.number(values, "loads_offset") + index * layout.LOAD.size
            self.put(layout.LOAD, load, gpa=base + index * layout.PAGE, offset=self.payload, size=PAYLOAD)
        self.put(layout.VM, at, nfixups=0, seed=base if values["seed"] else 0)

    def small(self) -> bytes:
        for index in range(self.number(self.header, "nvms")):
            self.vm(self.number(self.header, "vms_offset") + index * layout.VM.size)
        # A component that finds its section at boot would access its device, which the host lacks.
        for index in range(self.number(self.header, "nsections")):
            at = self.number(self.header, "sections_offset") + index * layout.SECTION.size
            self.put(layout.SECTION, at, tag=index + 1)
        total = self.payload + 2 * PAYLOAD
        self.put(layout.HEADER, 0, total_size=total, trace_kib=0)
        return bytes(self.image).ljust(total, b"\0")


def image_of(source: Path) -> bytes:
    """Builds the image of a system file, with guests that contain only zeros, and with bitstreams made for tests."""
    with tempfile.TemporaryDirectory() as folder:
        put_partial(Path(folder) / "genesys2")
        for guest in named_files(source, (Path(folder),)):
            if guest.is_file() or not guest.is_relative_to(folder):
                continue  # one of put_partial's, or another possible path of the file, in the folder of the source
            guest.parent.mkdir(parents=True, exist_ok=True)
            guest.write_bytes(of_file(guest.name) or bytes(layout.PAGE))
        return build(Options(source, None, (Path(folder),), ROOT / "platform")).files["tessera.bin"]


def main() -> int:
    folder, *sources = map(Path, sys.argv[1:])
    for name in ("image", "virtio"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for source in sources:
        (folder / "image" / source.stem).write_bytes(Shrinker(image_of(source)).small())
    drivers = random.Random(1)
    for number in range(DRIVERS):
        (folder / "virtio" / str(number)).write_bytes(drivers.randbytes(DRIVERS_SIZE))
    return 0


if __name__ == "__main__":
    sys.exit(main())
