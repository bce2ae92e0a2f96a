# SPDX-License-Identifier: Apache-2.0
"""VMs with several pieces of RAM (`memory`)."""

import json
import struct

import pytest
from fixtures import SYSTEM, changed
from image_reader import read_image

from tessera.image import layout
from tessera.image.fdt import values

MIB = 1 << 20
HIGH, HIGH_SIZE = 0x100000000, 4 * MIB
PIECE = "memory { high { address = <0x1 0x00000000>; size = <0x400000>; }; };"
LAST = 'sign-of-life = "two up";'  # of the VM two


def with_pieces(pieces, text=SYSTEM):
    return changed(text, [(LAST, f"{LAST} {pieces}")])


def manifest(built):
    return json.loads(built.files["system.json"])


def test_pieces(builder):
    built = builder.build(with_pieces(PIECE))
    first, second = read_image(built.files["tessera.bin"]).vms[1].regions
    assert first["gpa"] == 0x80000000
    assert (second["gpa"], second["size"], second["kind"], second["detail"]) == (HIGH, HIGH_SIZE, layout.REGION_RAM, 0)
    vm = manifest(built)["vms"][1]
    assert vm["more_memory"] == [{"base": HIGH, "size": HIGH_SIZE, "host": second["hpa"]}]
    assert second["hpa"] >= first["hpa"] + first["size"]


def test_device_tree_of_pieces(builder):
    blob = builder.build(with_pieces(PIECE)).files["two.dtb"]
    found = {value.path: value.data for value in values(blob) if "memory@" in value.path and value.name == "reg"}
    assert list(found.values()) == [
        struct.pack(">4I", 0, 0x80000000, 0, 4 * MIB),
        struct.pack(">4I", 1, 0, 0, HIGH_SIZE),
    ]


def test_devices_reach_all_pieces(builder):
    """Their DMA is translated by dma-ranges: bus address, guest-physical address, size."""
    device = changed(SYSTEM, [('devices = "rng0";', f'devices = "rng0"; {PIECE}')])
    built = builder.build(device)
    [ranges] = [value.data for value in values(built.files["one.dtb"]) if value.name == "dma-ranges"]
    vm = manifest(built)["vms"][0]
    pieces = [vm["memory"], *vm["more_memory"]]
    assert ranges == b"".join(struct.pack(">3Q", one["host"], one["base"], one["size"]) for one in pieces)


@pytest.mark.parametrize("used", ["shared", "memory-size"])
def test_pieces_overlap_nothing(builder, used):
    """Neither the other RAM nor shared memory."""
    text = with_pieces(PIECE.replace("<0x1 0x00000000>", "<0x80200000>"))
    if used == "shared":
        shared = 'shared { log { size = <0x200000>; address = <0x80400000>; vms = "one", "two"; }; };'
        text = text.replace("devices {", f"{shared} devices {{", 1).replace("<0x1000000>", "<0x400000>")
        text = text.replace("<0x80200000>", "<0x80400000>")
    problems = builder.refuse(text)
    assert any("the RAM high " in problem and "expected" in problem for problem in problems), problems


NEXT = "<0x80400000>"  # behind the RAM of the VM two


@pytest.mark.parametrize(
    ("pieces", "name", "other"),
    [
        (f"high {{ address = {NEXT}; size = <0x400000>; }};", "high", "the RAM at 0x80000000..0x80400000"),
        (
            "a { address = <1 0x400000>; size = <0x200000>; }; b { address = <1 0>; size = <0x400000>; };",
            "b",
            "the RAM a at 0x100400000..0x100600000",
        ),
    ],
)
def test_a_gap_between_pieces(builder, pieces, name, other):
    """Or Linux would take both for one, and buffers across the border would break its devices."""
    [problem] = builder.refuse(with_pieces(f"memory {{ {pieces} }};"))
    assert f"/vms/two/memory/{name}: address: expected a gap between it and the VM's other RAM, got {other}" in problem


def test_pieces_beyond_the_address_space(builder):
    [problem] = builder.refuse(with_pieces(PIECE.replace("<0x1 0x00000000>", "<0x1ff 0xffe00000>")))
    assert (
        "/vms/two/memory/high: size: expected guest-physical addresses below 0x20000000000, got memory up to" in problem
    )


def test_too_many_pieces(builder):
    pieces = "".join(f"p{n} {{ address = <0x1 {n * 0x800000:#x}>; size = <0x400000>; }};" for n in range(8))
    [problem] = builder.refuse(with_pieces(f"memory {{ {pieces} }};"))
    assert problem.endswith("/vms/two/memory: expected at most 7 pieces of RAM with a VM's devices, got 8")
    seven = pieces.replace("p7 { address = <0x1 0x3800000>; size = <0x400000>; };", "")
    assert (
        len(read_image(builder.build(with_pieces(f"memory {{ {seven} }};")).files["tessera.bin"]).vms[1].regions) == 8
    )


def test_pieces_and_shared_regions(builder):
    pieces = "".join(f"p{n} {{ address = <0x1 {n * 0x800000:#x}>; size = <0x400000>; }};" for n in range(7))
    shared = 'shared { log { size = <0x200000>; address = <0xa0000000>; vms = "one", "two"; }; };'
    text = with_pieces(f"memory {{ {pieces} }};").replace("devices {", f"{shared} devices {{", 1)
    [problem] = builder.refuse(text)
    assert problem.endswith("/vms/two: expected at most 0 shared regions with a VM's devices, got 1 and 0 devices")


def test_a_large_piece_does_not_fit(builder):
    [problem] = builder.refuse(with_pieces(PIECE.replace("<0x400000>", "<0x20000000>")))
    assert "/vms/two/memory/high: size: expected at most " in problem
    text = with_pieces(
        PIECE.replace("<0x400000>", "<0x20000000>"),
        SYSTEM.replace("harts = <2>;", "harts = <2>; ram-size = <0x40000000>;"),
    )
    assert manifest(builder.build(text))["vms"][1]["more_memory"][0]["size"] == 512 * MIB


def test_pieces_need_a_riscv_machine(builder):
    text = with_pieces(PIECE).replace('"qemu-virt"', '"m5150"')
    expected = "/vms/two/memory: expected only on riscv, got it on mips"
    assert any(problem.endswith(expected) for problem in builder.refuse(text))
