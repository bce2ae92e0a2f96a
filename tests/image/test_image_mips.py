# SPDX-License-Identifier: Apache-2.0
"""Systems for the M5150, which has another virtual platform and its image in flash."""

import struct

import pytest

from tessera.image import layout, virtual

TEXT = """\
/dts-v1/;
/ {
	compatible = "tessera,system";
	board = "m5150";
	harts = <1>;
	vms {
		one {
			memory-size = <0xc000>;
			image = "one.bin";
			sign-of-life = "one up";
		};
		two {
			memory-size = <0x10000>;
			image = "two.bin";
			sign-of-life = "two up";
			rt-apps = <2>;
		};
	};
};
"""


def test_places(builder):
    built = builder.build(TEXT)
    one, two = built.system.vms
    assert (one.memory_base, one.image_address, one.entry) == (0, 0x1000, 0x1000)
    assert one.dtb_address == 0xC000 - virtual.MIPS.dtb_room
    assert (one.host_base, two.host_base) == (0x10000, 0x1C000), "expected after the hypervisor's part of the SRAM"


def test_image(builder):
    data = builder.build(TEXT).files["tessera.bin"]
    header = layout.HEADER.unpack(data)
    assert (header["ram_base"], header["ram_size"], header["nharts"]) == (0x10000, 0x70000, 1)
    vm = layout.VM.unpack(data, header["vms_offset"])
    assert (vm["uart"], vm["uart_irq"], vm["irqchip"]) == (0x1FD003F8, 4, 0)


def test_device_tree(builder):
    tree = builder.build(TEXT).files["one.dts"].decode()
    assert 'compatible = "tessera,m5150"' in tree and "serial@1fd003f8" in tree
    assert "riscv" not in tree and "plic" not in tree


def test_file_for_the_simulator(builder):
    built = builder.build(TEXT)
    elf = built.files["tessera.elf"]
    assert elf[:6] == b"\x7fELF\x01\x01"
    kind, offset, virtual_address, physical, size = struct.unpack_from("<IIIII", elf, 52)
    assert (kind, virtual_address, physical) == (1, 0x1D000000, 0x1D000000)
    assert elf[offset : offset + size] == built.files["tessera.bin"]


REFUSED = {
    "memory of a size that no pages make up": (
        "memory-size = <0xc000>;",
        "memory-size = <0xb000>;",
        "8: /vms/one: memory-size: expected a size that is a multiple of 16 KiB, 16 KiB or more, below 0x20000000000, "
        "got 0xb000",
    ),
    "more memory than there is": (
        "memory-size = <0xc000>;",
        "memory-size = <0x70000>;",
        "13: /vms/two: memory-size: expected at most 0 bytes, the largest free piece of RAM, got 64 KiB",
    ),
    "more than one CPU": ("harts = <1>;", "harts = <2>;", "5: /: harts: expected at most 1, the harts of m5150, got 2"),
    "more RT apps than the board's hypervisor has": (
        "rt-apps = <2>;",
        "rt-apps = <17>;",
        "4: /: board: expected at most 16 RT apps on m5150, got 17",
    ),
    "an interrupt controller that guests do not have": (
        "rt-apps = <2>;",
        "message-interrupt = <3>;",
        "16: /vms/two: message-interrupt: expected only where guests have a PLIC, got it on mips",
    ),
    "memory that kseg0 does not reach": (
        "rt-apps = <2>;",
        "memory-base = <0x1fff8000>;",
        "13: /vms/two: memory-size: expected guest-physical addresses below 0x20000000, got memory up to 0x20008000",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(builder, name):
    old, new, message = REFUSED[name]
    assert TEXT.count(old) == 1
    assert f"sys.dts:{message}" in builder.refuse(TEXT.replace(old, new))


def test_image_larger_than_the_flash(builder):
    builder.file("one.bin", bytes(range(256)) * 0xB0)
    copies = "".join(
        f'\n\t\tv{n} {{\n\t\t\tmemory-size = <0xc000>;\n\t\t\timage = "{n}.bin";\n\t\t\tsign-of-life = "x";\n\t\t}};'
        for n in range(3)
    )
    for n in range(3):
        builder.file(f"{n}.bin", bytes([n]) * 0xA000)
    text = TEXT.replace("\n\t\ttwo {", copies + "\n\t\ttwo {").replace('board = "m5150"', 'board = "tiny"')
    board = (builder.platform / "m5150" / "board.dts").read_text().replace("<0x200000>", "<0x10000>")
    folder = builder.guests.parent / "platform" / "tiny"
    folder.mkdir(parents=True)
    (folder / "board.dts").write_text(board)
    builder.platform = folder.parent
    assert any("expected a system image that fits tiny's ROM of 64 KiB" in line for line in builder.refuse(text))
