# SPDX-License-Identifier: Apache-2.0
"""Shared memory and messages in the image and in the guests' device trees."""

import struct
from itertools import pairwise

from fixtures import SYSTEM
from image_reader import read_image

from tessera.image import fdt, layout

SHARED = """\
	shared {
		first { size = <0x200000>; address = <0xa0000000>; vms = "one", "two"; };
		second { size = <0x400000>; address = <0xb0000000>; vms = "two", "one"; };
	};
	vms {
"""


def built(builder):
    text = SYSTEM.replace("\tvms {\n", SHARED).replace('"one up";', '"one up"; may-send-to = "two";')
    return builder.build(text.replace('"two up";', '"two up"; message-interrupt = <7>;'))


def test_image(builder):
    one, two = read_image(built(builder).files["tessera.bin"]).vms
    assert (one.fields["send_to"], two.fields["send_to"]) == (2, 0)
    assert (one.fields["message_irq"], two.fields["message_irq"]) == (0, 7)
    regions = [[r for r in vm.regions if r["kind"] == layout.REGION_SHARED] for vm in (one, two)]
    assert regions[0] == regions[1]
    assert [(r["gpa"], r["size"], r["detail"]) for r in regions[0]] == [
        (0xA0000000, 2 << 20, 0),
        (0xB0000000, 4 << 20, 1),
    ]
    spans = sorted((r["hpa"], r["hpa"] + r["size"]) for r in [*one.regions[:1], *two.regions[:1], *regions[0]])
    assert all(before[1] <= after[0] for before, after in pairwise(spans))


def test_device_tree(builder):
    nodes = {}
    for value in fdt.values(built(builder).files["two.dtb"]):
        nodes.setdefault(value.path, {})[value.name] = value.data
    region = nodes["/soc/shared@b0000000"]
    assert region["compatible"] == b"tessera,shared\0"
    assert region["label"] == b"second\0"
    assert struct.unpack(">4I", region["reg"]) == (0, 0xB0000000, 0, 4 << 20)
    assert region["tessera,region"] == b"\0\0\0\1"
    assert nodes["/messages"]["interrupts"] == b"\0\0\0\7"
    assert nodes["/messages"]["interrupt-parent"] == nodes["/soc/plic@c000000"]["phandle"]
