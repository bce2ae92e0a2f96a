# SPDX-License-Identifier: Apache-2.0
"""Devices shared by hardware as a PCI function: the section of the image, the guests' device trees, the manifest;
invalid systems."""

import json
import re
from pathlib import Path

import pytest
from fixtures import changed, read_cases
from image_reader import read_image
from test_image_pci import given, rows, section, tree

from tessera.image.shared import shared_image
from tessera.image.virtio import virtio_image

SYSTEM = Path(__file__).with_name("pci-hardware-io.dts").read_text()
CASES = read_cases(Path(__file__).with_name("refused-pci-hardware-io.txt"))
PAGES, DMA = (0x18200000, 0x8000), (0xA0000000, 0x400000)
UART, SEND, RECEIVE, COPY, DISPLAY, SPI = (1 << number for number in (0, 2, 3, 4, 5, 7))
MEMORY32 = 0x02000000


def test_functions(builder):
    """The pages that the VM has: not that of a display which shows a simple framebuffer."""
    kind = virtio_image.MODELS["hardware-io"]
    found = [(one["vm"], one["slot"], given(one)) for one in section(builder.build(SYSTEM)) if one["kind"] == kind]
    assert found == [
        (0, 1, {"task": SEND | RECEIVE | COPY, "flags": virtio_image.DMA}),
        (1, 0, {"task": UART | DISPLAY | SPI}),
    ]


def test_shared_devices_do_not_change(builder):
    """The component shared has the same section as without functions."""
    plain = re.sub(r"\n\t\t\tpci \{.*?\n\t\t\t\};", "", SYSTEM, flags=re.DOTALL)
    sections = [read_image(builder.build(text).files["tessera.bin"]).sections for text in (SYSTEM, plain)]
    assert virtio_image.TAG not in sections[1]
    assert sections[0][shared_image.TAG] == sections[1][shared_image.TAG]


def test_bridge(builder):
    """It forwards the pages and the memory for DMA; INTA is the interrupt of the shared devices."""
    bridge = tree(builder.build(SYSTEM), "linux")["/pci@30000000"]
    ranges = rows(bridge["ranges"], 7)
    assert all(row[0] == MEMORY32 and row[1:3] == row[3:5] for row in ranges)
    assert [(row[2], row[6]) for row in ranges][1:] == [PAGES, DMA]
    assert [(row[0], row[5]) for row in rows(bridge["interrupt-map"], 6)] == [(0, 24), (0x800, 23)]


def test_device_tree(builder):
    """It describes the devices only where they are no function; a simple framebuffer is memory."""
    built = builder.build(SYSTEM)
    nodes, others, plain = (tree(built, name) for name in ("linux", "other", "plain"))
    assert any(path.startswith("/chosen/framebuffer@") for path in nodes)
    fabric = [[path for path in one if re.match("/fabric|/shared.clock", path)] for one in (nodes, others, plain)]
    assert fabric == [[], [], ["/fabric", "/fabric/copy@18204000"]]
    assert "stdout-path" not in others["/chosen"]


def test_manifest(builder):
    manifest = json.loads(builder.build(SYSTEM).files["system.json"])
    linux, _, plain = manifest["vms"]
    assert [(one["model"], one["interrupt"]) for one in linux["functions"]] == [("virtio-rng", 24), ("hardware-io", 23)]
    places = {one["name"]: (one["base"], one["size"]) for one in linux["mmio"]}
    assert places["devices"] == PAGES
    assert not {"copy", "ethernet", "display"} & places.keys()
    assert "copy" in {one["name"] for one in plain["mmio"]}


@pytest.mark.parametrize("name", CASES)
def test_refused(builder, name):
    changes, expected = CASES[name]
    assert builder.refuse(changed(SYSTEM, changes)) == expected
