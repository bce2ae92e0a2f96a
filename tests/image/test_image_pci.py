# SPDX-License-Identifier: Apache-2.0
"""Virtual PCI functions: the layout of their section of the image."""

import re

from c_headers import evaluate
from fixtures import ROOT

from tessera.image import pci_image, virtual

HEADER = ROOT / "virtio" / "include" / "virtio_image.h"
INCLUDE = (str(HEADER.relative_to(ROOT)),)


def test_records_are_those_of_the_header():
    """Records have no padding: fields at the header's offsets, and of its size, are all of its fields."""
    expected = {}
    for record in (pci_image.IMAGE, pci_image.FUNCTION):
        expected[f"sizeof(struct {record.name})"] = record.size
        expected |= {f"offsetof(struct {record.name}, {name})": record.offset(name) for name, _ in record.fields}
    assert evaluate(INCLUDE, expected) == expected


def test_every_structure_and_field_of_the_header_is_known():
    text = re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.DOTALL)
    structures = dict(re.findall(r"struct (\w+) \{(.*?)\};", text, flags=re.DOTALL))
    records = {record.name: record for record in (pci_image.IMAGE, pci_image.FUNCTION)}
    assert set(structures) == set(records)
    for name, body in structures.items():
        assert [field for field, _ in records[name].fields] == re.findall(r"(\w+)\s*[,;]", body)


def test_constants_are_those_of_the_header():
    ours = {"VIRTIO_IMAGE_TAG": pci_image.TAG, "VIRTIO_IMAGE_READ_ONLY": pci_image.READ_ONLY}
    ours |= {f"VIRTIO_{name}": getattr(pci_image, name) for name in ("MAX_FUNCTIONS", "MAX_FUNCTIONS_PER_VM")}
    ours |= {"VIRTIO_MAX_NETWORKS": pci_image.MAX_NETWORKS}
    ours |= {f"VIRTIO_{name}": getattr(virtual, f"PCI_{name}") for name in ("ECAM", "ECAM_SIZE", "BARS", "BAR_SIZE")}
    ours |= {"VIRTIO_IRQ": virtual.PCI_IRQ}
    kinds = {f"VIRTIO_IMAGE_{name.upper()}": number for name, number in pci_image.KINDS.items()}
    text = HEADER.read_text()
    assert set(re.findall(r"^#define (VIRTIO_\w+) \S", text, flags=re.MULTILINE)) == set(ours)
    assert set(re.findall(r"^    (VIRTIO_\w+) = \w+,", text, flags=re.MULTILINE)) == set(kinds)
    assert evaluate(INCLUDE, ours | kinds) == ours | kinds
    assert pci_image.TAG.to_bytes(4, "little") == b"VPCI"


def test_addresses_and_interrupts_have_room():
    assert virtual.PCI_IRQ + pci_image.MAX_FUNCTIONS_PER_VM - 1 <= virtual.PLIC_SOURCES
    assert pci_image.MAX_FUNCTIONS_PER_VM * virtual.PCI_BAR_SIZE <= virtual.PCI_WINDOW
    assert max(virtual.ACCEL_EVENT_IRQ, virtual.SHARED_IRQ, virtual.RTC_IRQ) < virtual.PCI_IRQ
