# SPDX-License-Identifier: Apache-2.0
"""Memory for DMA (`dma-memory`), and boards on which DMA is not coherent with the data cache (`dma-alias`)."""

import json
import struct

import pytest
from image_reader import read_image
from shared_system import SYSTEM, line_of, on_board
from test_image_shared_display import SYSTEM as DISPLAY
from test_image_shared_display import tree

from tessera.image import layout

ALIAS = 0x40000000
BASE, SIZE = 0xA0000000, 0x400000
GIVEN = f"dma-memory = <{BASE:#x} {SIZE:#x}>;"
WITH = SYSTEM.replace('image = "two.bin";', f'image = "two.bin"; {GIVEN}')
BOTH = WITH.replace("\t\tfirst {\n", f"\t\tfirst {{\n\t\t\t{GIVEN}\n")  # of the VMs with devices
RAM_SIZE = "ram-size = <0x20000000>;"


def regions(built):
    vms = {vm.name: vm for vm in read_image(built.files["tessera.bin"]).vms}
    return vms["second"].regions


def with_alias(builder, alias=ALIAS):
    builder.make_board((RAM_SIZE, f"{RAM_SIZE} dma-alias = <{alias:#x}>;"))


def dma_host(built):
    """Where devices access the memory, by the manifest."""
    memory = json.loads(built.files["system.json"])["vms"][2]["dma_memory"]
    assert (memory["base"], memory["size"]) == (BASE, SIZE)
    return memory["host"]


def test_the_memory_is_behind_the_vms_ram(builder):
    built = builder.build(WITH)
    ram, dma = regions(built)
    assert (dma["gpa"], dma["size"], dma["kind"], dma["detail"]) == (BASE, SIZE, layout.REGION_DMA, 0)
    assert dma["hpa"] == dma_host(built) == ram["hpa"] + ram["size"]


def test_a_board_with_an_alias_has_the_same_image(builder):
    """It names where devices access the memory; the hypervisor knows the board's alias."""
    with_alias(builder)
    built = builder.build(on_board(BOTH))
    ram, dma = regions(built)
    assert (dma["gpa"], dma["size"], dma["kind"], dma["detail"]) == (BASE, SIZE, layout.REGION_DMA, 0)
    assert dma["hpa"] == dma_host(built) >= ram["hpa"] + ram["size"]


def test_device_tree(builder):
    nodes = tree(builder.build(WITH), "second")
    pool = nodes[f"/reserved-memory/dma-memory@{BASE:x}"]
    assert pool == {
        "compatible": b"shared-dma-pool\0",
        "reg": struct.pack(">4I", 0, BASE, 0, SIZE),
        "no-map": b"",
    }


def test_a_framebuffer_is_in_the_memory_for_dma(builder):
    """At its end; the pool is the rest."""
    text = DISPLAY.replace('image = "two.bin";', f'image = "two.bin"; {GIVEN}')
    built = builder.build(text)
    nodes = tree(built, "simple")
    (framebuffer,) = [path for path in nodes if path.startswith("/reserved-memory/framebuffer")]
    _, gpa, _, size = struct.unpack(">4I", nodes[framebuffer]["reg"])
    assert gpa + size == BASE + SIZE
    assert nodes[f"/reserved-memory/dma-memory@{BASE:x}"]["reg"] == struct.pack(">4I", 0, BASE, 0, SIZE - size)
    small = (
        text.replace("320 240", "1024 1024")
        .replace("163 10 101 50", "0 0 1024 1023")
        .replace("0 0 160 240", "0 1023 160 1")
    )
    assert builder.build(small)
    (message,) = builder.refuse(small.replace(GIVEN, f"dma-memory = <{BASE:#x} 0x200000>;"))
    assert "framebuffer: expected at most 2 MiB, the memory for DMA, got 4190208 bytes" in message


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("<0xa0000000 0x300000>", "expected a multiple of 2 MiB as size, got 0x300000"),
        ("<0xa0001000 0x200000>", "expected a multiple of 2 MiB as address, got 0xa0001000"),
        ("<0xa0000000 0>", "expected a size of 2 MiB or more, got 0"),
        (
            "<0x80200000 0x200000>",
            "expected guest-physical addresses that do not overlap, got the RAM at 0x80000000..0x80400000 and "
            "the memory for DMA at 0x80200000..0x80400000",
        ),
        ("<0xa0000000 0x40000000>", "expected at most 496 MiB, the largest free piece of RAM, got 1 GiB"),
    ],
)
def test_refused(builder, given, message):
    text = WITH.replace(GIVEN, f"dma-memory = {given};")
    assert builder.refuse(text) == [f"sys.dts:{line_of(text, 'dma-memory')}: /vms/second: dma-memory: {message}"]


def test_refused_without_devices(builder):
    text = SYSTEM.replace("\t\tplain {\n", f"\t\tplain {{\n\t\t\t{GIVEN}\n")
    expected = "expected only on a VM with accelerators or shared devices"
    assert builder.refuse(text) == [f"sys.dts:{line_of(text, 'dma-memory')}: /vms/plain: dma-memory: {expected}"]


def test_required_where_dma_is_not_coherent(builder):
    with_alias(builder)
    text = on_board(SYSTEM)
    expected = (
        "missing; expected memory for the buffers of shared devices: DMA is not coherent with the data cache of alt"
    )
    refused = builder.refuse(text)
    assert [message.partition(": ")[2] for message in refused] == [
        f"/vms/{name}: dma-memory: {expected}" for name in ("first", "second")
    ]


def test_an_alias_inside_the_ram_is_refused(builder):
    with_alias(builder, 0x10000000)
    (message,) = builder.refuse(on_board(BOTH))
    assert "dma-alias: expected addresses behind the RAM of 0x20000000, got 0x10000000" in message
