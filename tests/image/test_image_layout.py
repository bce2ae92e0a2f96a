# SPDX-License-Identifier: Apache-2.0
"""The Python layout against the C header, whose offsets are taken from the host's compiler."""

import re

import pytest
from c_headers import evaluate
from fixtures import ROOT

from tessera.image import layout

HEADER = ROOT / "core" / "include" / "sysimage.h"
REGION_KINDS = ("RAM", "MMIO", "SHARED", "DMA")
FEATURES = ROOT / "arch" / "riscv" / "include" / "features.h"


def compiled(expressions):
    """The values of C expressions by their text."""
    return evaluate((HEADER.name, str(FEATURES.relative_to(ROOT))), expressions)


def test_records_are_those_of_the_header():
    expected = {}
    for record in layout.RECORDS:
        expected[f"sizeof(struct {record.name})"] = record.size
        for field, _ in record.fields:
            member = f"((struct {record.name} *)0)->{field}"
            following = [name for name, _ in record.fields]
            end = following[following.index(field) + 1 :]
            size = (record.offset(end[0]) if end else record.size) - record.offset(field)
            expected[f"offsetof(struct {record.name}, {field})"] = record.offset(field)
            expected[f"sizeof({member})"] = size
    assert compiled(expected) == expected


def test_every_structure_and_field_of_the_header_is_known():
    text = re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.DOTALL)
    structures = dict(re.findall(r"struct (\w+) \{(.*?)\};", text, flags=re.DOTALL))
    assert set(structures) == {record.name for record in layout.RECORDS}
    for record in layout.RECORDS:
        declared = re.findall(r"(\w+)(?:\[\w+\])?\s*[,;]", structures[record.name])
        assert [name for name, _ in record.fields] == declared


def test_constants_are_those_of_the_header():
    names = re.findall(r"^#define (SYSIMAGE_\w+) \S", HEADER.read_text(), flags=re.MULTILINE)
    assert len(names) > 10
    ours = {name: getattr(layout, name.removeprefix("SYSIMAGE_")) for name in names}
    for index, feature in enumerate(layout.FEATURES):
        ours[f"RISCV_FEATURE_{feature.upper()}"] = index
    ours["RISCV_FEATURE_COUNT"] = len(layout.FEATURES)
    ours |= {f"SYSIMAGE_REGION_{kind}": getattr(layout, f"REGION_{kind}") for kind in REGION_KINDS}
    assert compiled(ours) == ours


def test_every_constant_of_the_header_is_known():
    text = HEADER.read_text() + FEATURES.read_text()
    enumerators = set(re.findall(r"^    (\w+) = \d+,", text, flags=re.MULTILINE))
    features = {f"RISCV_FEATURE_{feature.upper()}" for feature in layout.FEATURES}
    assert enumerators == features | {"RISCV_FEATURE_COUNT", *(f"SYSIMAGE_REGION_{kind}" for kind in REGION_KINDS)}


def test_packing_refuses_missing_and_unknown_fields():
    with pytest.raises(ValueError, match="sysimage_irq"):
        layout.IRQ.pack(host=1)
    with pytest.raises(ValueError, match="sysimage_irq"):
        layout.IRQ.pack(host=1, guest=1, extra=1)
