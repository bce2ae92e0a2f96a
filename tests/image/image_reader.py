# SPDX-License-Identifier: Apache-2.0
"""Reads a system image and checks the guarantees of core/include/sysimage.h."""

import itertools
import struct
import zlib
from dataclasses import dataclass
from typing import Any

from tessera.image import layout


@dataclass
class VmRead:
    """A VM of the image: the fields of struct sysimage_vm and its arrays."""

    fields: dict[str, Any]
    regions: list[dict[str, Any]]
    loads: list[dict[str, Any]]
    irqs: list[dict[str, Any]]
    fixups: list[dict[str, Any]]

    @property
    def name(self) -> str:
        return text(self.fields["name"])


@dataclass
class ImageRead:
    """A whole image."""

    header: dict[str, Any]
    vms: list[VmRead]
    sections: dict[int, bytes]  # by tag
    data: bytes

    def payload(self, load: dict[str, Any]) -> bytes:
        return self.data[load["offset"] : load["offset"] + load["size"]]


def text(field: bytes) -> str:
    """A NUL-terminated name."""
    head, nul, rest = field.partition(b"\0")
    assert nul and not rest.strip(b"\0"), f"not terminated: {field!r}"
    return head.decode("ascii")


def read_image(data: bytes) -> ImageRead:
    """The image at the start of `data`. A violated guarantee of the layout raises
    AssertionError."""
    header = layout.HEADER.unpack(data)
    assert header["magic"].to_bytes(8, "little") == b"TESSERA1"
    assert header["version"] == layout.VERSION
    assert header["total_size"] == len(data)
    assert layout.HEADER.size < header["config_size"] <= len(data)
    assert header["checksum"] == zlib.crc32(data[16 : header["config_size"]])
    assert 1 <= header["nvms"] <= layout.MAX_VMS
    assert 1 <= header["nharts"] <= layout.MAX_HARTS
    used = [(0, layout.HEADER.size)]
    vms = _array(data, header, layout.VM, header["nvms"], header["vms_offset"], used)
    sections = _sections(data, header, used)
    image = ImageRead(header, [_vm(data, header, fields, used) for fields in vms], sections, data)
    _disjoint(used)
    for vm in image.vms:
        _check_loads(image, vm)
    return image


def _array(data, header, record, count, offset, used) -> list[dict[str, Any]]:
    if count == 0:
        return []
    assert offset % 8 == 0
    assert offset + count * record.size <= header["config_size"]
    used.append((offset, offset + count * record.size))
    return [record.unpack(data, offset + index * record.size) for index in range(count)]


def _sections(data, header, used) -> dict[int, bytes]:
    assert header["nsections"] <= layout.MAX_SECTIONS
    found = {}
    for section in _array(data, header, layout.SECTION, header["nsections"], header["sections_offset"], used):
        start, end = section["offset"], section["offset"] + section["size"]
        assert start % 8 == 0
        assert start < end <= header["config_size"]
        assert section["tag"] not in found
        assert section["reserved"] == 0
        used.append((start, end))
        found[section["tag"]] = data[start:end]
    return found


def _vm(data, header, fields, used) -> VmRead:
    arrays = {}
    for name, record in (
        ("regions", layout.REGION),
        ("loads", layout.LOAD),
        ("irqs", layout.IRQ),
        ("fixups", layout.FIXUP),
    ):
        count = fields[f"n{name}"]
        assert count <= getattr(layout, f"MAX_{name.upper()}")
        arrays[name] = _array(data, header, record, count, fields[f"{name}_offset"], used)
    return VmRead(fields, **arrays)


def _disjoint(spans: list[tuple[int, int]]) -> None:
    ordered = sorted(spans)
    for (_, behind), (first, _) in itertools.pairwise(ordered):
        assert behind <= first


def _word_sums(data: bytes) -> tuple[int, int]:
    """As defined by struct word_sums in core/include/lib.h, word by word."""
    words = sums = 0
    for (word,) in struct.iter_unpack("<I", data):
        words = (words + word) % 2**64
        sums = (sums + words) % 2**64
    return words, sums


def _check_loads(image: ImageRead, vm: VmRead) -> None:
    ram = [region for region in vm.regions if region["kind"] == layout.REGION_RAM]
    for load in vm.loads:
        padded = layout.align_up(load["size"], 8)
        assert load["gpa"] % 8 == 0
        assert load["offset"] % 4096 == 0
        assert load["offset"] >= image.header["config_size"]
        assert load["offset"] + padded <= len(image.data)
        assert not any(image.data[load["offset"] + load["size"] : load["offset"] + padded]), "padding is not zero"
        assert (load["words"], load["sums"]) == _word_sums(image.data[load["offset"] : load["offset"] + padded])
        assert any(r["gpa"] <= load["gpa"] and load["gpa"] + padded <= r["gpa"] + r["size"] for r in ram)
    _disjoint([(load["gpa"], load["gpa"] + load["size"]) for load in vm.loads])
    for fixup in vm.fixups:
        assert fixup["load"] < len(vm.loads)
        assert 1 <= fixup["size"] <= 16
        assert fixup["offset"] + fixup["size"] <= vm.loads[fixup["load"]]["size"]
        assert fixup["feature"] < len(layout.FEATURES)
