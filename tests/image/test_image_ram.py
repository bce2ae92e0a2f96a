# SPDX-License-Identifier: Apache-2.0
"""The RAM of the machine (`ram-size`)."""

import json

import pytest
from fixtures import SYSTEM, changed
from image_reader import read_image

from tessera.image.prop_types import size_text

MIB = 1 << 20
BOARD_SIZE = 512 * MIB
BOARD_END = 0x80000000 + BOARD_SIZE


def with_ram(size):
    return SYSTEM.replace("harts = <2>;", f"harts = <2>; ram-size = <{size >> 32:#x} {size & 0xFFFFFFFF:#x}>;")


def manifest(built):
    return json.loads(built.files["system.json"])


@pytest.mark.parametrize("size", [BOARD_SIZE, BOARD_SIZE + 2 * MIB, 1 << 30, 8 << 30])
def test_size_of_the_machine(builder, size):
    built = builder.build(with_ram(size))
    assert read_image(built.files["tessera.bin"]).header["ram_size"] == size
    assert manifest(built)["ram"] == {"base": 0x80000000, "size": size}
    assert manifest(built)["qemu"]["memory_mib"] == size >> 20


def test_a_vm_needs_more_than_the_board_has(builder):
    vm = "memory-size = <0x400000>;", f"memory-size = <{BOARD_SIZE:#x}>;"
    [problem] = builder.refuse(changed(SYSTEM, [vm]))
    assert "the largest free piece of RAM" in problem
    built = builder.build(changed(with_ram(1 << 30), [vm]))
    memory = manifest(built)["vms"][1]["memory"]
    assert memory["host"] < BOARD_END < memory["host"] + memory["size"] < 0x80000000 + (1 << 30)


def test_the_trace_is_at_the_end(builder):
    text = with_ram(1 << 30).replace("harts = <2>;", "harts = <2>; trace-kib = <1024>;")
    assert manifest(builder.build(text))["trace"]["base"] == 0x80000000 + (1 << 30) - 2 * MIB


def test_less_than_the_board(builder):
    expected = f"sys.dts:5: /: ram-size: expected at least qemu-virt's {size_text(BOARD_SIZE)}, got 510 MiB"
    assert builder.refuse(with_ram(BOARD_SIZE - 2 * MIB)) == [expected]


@pytest.mark.parametrize("size", [BOARD_SIZE + MIB, 1 << 36])
def test_sizes_out_of_range(builder, size):
    [problem] = builder.refuse(with_ram(size))
    assert problem.startswith("sys.dts:5: /: ram-size: expected a size that is a multiple of 2 MiB, 2 MiB or more, ")
    assert problem.endswith(f"got {size:#x}")


def test_a_machine_that_cannot_have_more(builder):
    builder.make_board(('qemu-machine = "virt";', ""))
    text = with_ram(1 << 30).replace('"qemu-virt"', '"alt"')
    assert builder.refuse(text) == [
        "sys.dts:5: /: ram-size: expected only on a board that QEMU emulates, got it on alt"
    ]
