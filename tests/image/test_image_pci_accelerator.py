# SPDX-License-Identifier: Apache-2.0
"""Accelerators as PCI functions: the section of the image, the guests' device trees, the manifest; invalid systems."""

import json
import re
from pathlib import Path

import pytest
from fixtures import changed, read_cases
from image_reader import read_image
from test_image_pci import given, rows, section, tree

from tessera.fabric.bitstream import of_file
from tessera.image.accel import accel_image
from tessera.image.virtio import virtio_image

SYSTEM = Path(__file__).with_name("pci-accelerator.dts").read_text()
CASES = read_cases(Path(__file__).with_name("refused-pci-accelerator.txt"))
ACCELERATOR = virtio_image.MODELS["accelerator"]
PAGES, DMA = 0x18100000, (0xA0000000, 0x400000)
AES, FFT, QAM = range(3)  # numbers of the devices
MEMORY32 = 0x02000000


@pytest.fixture
def library(builder):
    """The builder, with the bitstreams."""
    (builder.guests / "simb").mkdir()
    for name in set(re.findall(r'"(simb/.*?)"', SYSTEM)):
        builder.file(name, of_file(Path(name).name))
    return builder


def test_functions(library):
    """The number of the device and its task; the memory for DMA on one of them."""
    found = [
        (one["vm"], one["slot"], given(one)) for one in section(library.build(SYSTEM)) if one["kind"] == ACCELERATOR
    ]
    assert found == [
        (0, 1, {"device": QAM, "task": 1}),
        (0, 2, {"device": FFT, "task": 3, "flags": virtio_image.DMA}),
        (1, 0, {"device": QAM, "task": 1}),
    ]


def test_devices_of_the_fabric_do_not_change(library):
    """The component accel has the same section as without functions, but for their timer."""
    plain = re.sub(r"\n\t\t\tpci \{.*?\n\t\t\t\};", "", SYSTEM, flags=re.DOTALL)
    sections = [read_image(library.build(text).files["tessera.bin"]).sections for text in (SYSTEM, plain)]
    assert virtio_image.TAG not in sections[1]
    heads = [accel_image.IMAGE.unpack(found[accel_image.TAG][: accel_image.IMAGE.size]) for found in sections]
    assert heads[0] == {**heads[1], "timers": heads[1]["timers"] + 1}
    assert (
        sections[0][accel_image.TAG][accel_image.IMAGE.size :] == sections[1][accel_image.TAG][accel_image.IMAGE.size :]
    )


def test_device_tree(library):
    """The bridge forwards the pages and the memory for DMA; INTA of these functions is the interrupt of the VM's
    accelerators. Only the device without a function is described as one of the fabric."""
    nodes = tree(library.build(SYSTEM), "linux")
    bridge = nodes["/pci@30000000"]
    ranges = rows(bridge["ranges"], 7)
    assert all(row[0] == MEMORY32 and row[1:3] == row[3:5] for row in ranges)
    windows = [(row[2], row[6]) for row in ranges]
    assert windows[1:] == [(PAGES + 0x1000 * QAM, 0x1000), (PAGES + 0x1000 * FFT, 0x1000), DMA]
    assert [(row[0], row[5]) for row in rows(bridge["interrupt-map"], 6)] == [(0, 24), (0x800, 21), (0x1000, 21)]
    assert [path for path in nodes if path.startswith("/fabric/")] == [f"/fabric/accelerator@{PAGES + 0x1000 * AES:x}"]


def test_no_bus_of_the_fabric_without_devices_on_it(library):
    assert "/fabric" not in tree(library.build(SYSTEM), "other")


def test_manifest(library):
    manifest = json.loads(library.build(SYSTEM).files["system.json"])
    functions = {one["name"]: one for one in manifest["vms"][0]["functions"]}
    assert (functions["qam"]["device"], functions["qam"]["interrupt"]) == ("qam16", 21)
    assert functions["random"]["device"] is None
    places = {one["name"]: (one["base"], one["size"]) for one in manifest["vms"][0]["mmio"]}
    assert places["qam"] == (PAGES + 0x1000 * QAM, 0x1000)
    assert "qam16" not in places
    assert places["aes128"] == (PAGES, 0x1000)


@pytest.mark.parametrize("name", CASES)
def test_refused(library, name):
    changes, expected = CASES[name]
    assert library.refuse(changed(SYSTEM, changes)) == expected
