# SPDX-License-Identifier: Apache-2.0
"""Addresses and sizes at the limits of the machine: the last value that fits, and the first one that does not."""

import re

import pytest
from fixtures import SYSTEM
from image_reader import read_image

TWO = "memory-size = <0x400000>;"
SHARED = 'shared { log { size = <0x200000>; address = ADDRESS; vms = "one", "two"; }; };'
END = "below 0x20000000000"

# Of the VM two, by what is at its limit: the lines in place of its memory-size, and the words of the refusal.
CASES = {
    "the last 4 MiB": (f"{TWO} memory-base = <0x1ff 0xffc00000>;", None),
    "2 MiB too high": (
        f"{TWO} memory-base = <0x1ff 0xffe00000>;",
        f"memory-size: expected guest-physical addresses {END}",
    ),
    "the first address of 42 bits": (f"{TWO} memory-base = <0x200 0>;", f"memory-base: .*{END}, got 0x20000000000"),
    "an address of 64 bits": (f"{TWO} memory-base = <0xffffffff 0xffe00000>;", "memory-base: .*got 0xffffffffffe00000"),
    "a misaligned address": (f"{TWO} memory-base = <0x80001000>;", "memory-base: .*multiple of 2 MiB"),
    "size 0": ("memory-size = <0>;", "memory-size: .*2 MiB or more"),
    "a size of 42 bits": ("memory-size = <0x200 0>;", f"memory-size: .*{END}"),
    "a size of 64 bits": ("memory-size = <0xffffffff 0xffe00000>;", "memory-size: .*got 0xffffffffffe00000"),
    "the largest size of 41 bits": ("memory-size = <0x1ff 0xffe00000>;", "memory-size: "),
    "an image at the end": (f"{TWO} image-address = <0x803ff000>;", "image: expected loads that do not overlap"),
    "an image behind the RAM": (f"{TWO} image-address = <0x80400000>;", "image: expected it to fit"),
    "an image before the RAM": (f"{TWO} image-address = <0x7ffff000>;", "image: expected it to fit"),
    "an entry behind the RAM": (f"{TWO} entry = <0x80400000>;", "entry"),
    "an entry of 64 bits": (f"{TWO} entry = <0xffffffff 0xfffffffe>;", "entry"),
    "host memory behind the board's": (f"{TWO} host-base = <0x1 0x00000000>;", "host-base"),
    "host memory of 56 bits": (f"{TWO} host-base = <0xffffff 0xffe00000>;", "host-base"),
    "host memory of 57 bits": (f"{TWO} host-base = <0x1000000 0>;", "host-base: .*below 0x100000000000000"),
    "memory for DMA past 32 bits": (f"{TWO} dma-memory = <0xffe00000 0x400000>;", "dma-memory"),
}


@pytest.mark.parametrize("name", CASES)
def test_memory_of_a_vm(builder, name):
    lines, refusal = CASES[name]
    text = SYSTEM.replace(TWO, lines)
    if refusal is None:
        image = read_image(builder.build(text).files["tessera.bin"])
        assert any(0x1FFFFC00000 in region.values() for region in image.vms[1].regions)
        return
    problems = builder.refuse(text)
    assert any(re.search(f"/vms/two: (?:{refusal})", problem) for problem in problems), problems


@pytest.mark.parametrize(
    ("address", "refusal"),
    [
        ("<0x1ff 0xffe00000>", None),
        ("<0x200 0>", f"address: .*{END}"),
        ("<0x1ff 0xfff00000>", "address: .*multiple of 2 MiB"),
    ],
)
def test_shared_memory(builder, address, refusal):
    text = SYSTEM.replace("	devices {", f"	{SHARED.replace('ADDRESS', address)}\n	devices {{", 1)
    if refusal is None:
        assert builder.build(text)
        return
    assert any(re.search(f"/shared/log: {refusal}", problem) for problem in builder.refuse(text))
