# SPDX-License-Identifier: Apache-2.0
"""Verilator reports no warning for any module of the fabric; and it does find a latch."""

import pytest
from rtl_tools import CHIP, RTL, lint, rtl_files

MODULES = [path.stem for path in rtl_files() if not path.stem.endswith("_pkg")]


@pytest.mark.parametrize("module", MODULES)
def test_lint(module):
    complaints = lint(module)
    assert not complaints, complaints


def test_lint_of_the_kintex7_port():
    """Selected by its folder, because the simulation model has the same name."""
    complaints = lint("icap", files=sorted((RTL / CHIP).glob("*.sv"), reverse=True))
    assert not complaints, complaints


# The extremes of fabric_top's parameters, and some that are not powers of two: VMs, devices, regions, sorter depth.
EXTREMES = [(1, 1, 1, 2), (2, 3, 2, 5), (16, 1, 3, 3), (1, 16, 5, 100), (16, 16, 8, 256)]


@pytest.mark.parametrize("extreme", [*EXTREMES[:-1], pytest.param(EXTREMES[-1], marks=pytest.mark.long)])
def test_lint_of_extreme_parameters(extreme):
    parameters = dict(zip(("NumVms", "NumDevs", "NumPrrs", "SorterDepth"), extreme, strict=True))
    complaints = lint("fabric_top", parameters)
    assert not complaints, complaints


SMALL = {"NumVms": 1, "NumDevs": 1, "NumPrrs": 1, "SorterDepth": 2}
OUT_OF_RANGE = {"NumVms": 17, "NumDevs": 17, "NumPrrs": 9, "ListDepth": 33}
SLOW = pytest.param("SorterDepth", 257, marks=pytest.mark.long)


@pytest.mark.parametrize(("name", "value"), [*OUT_OF_RANGE.items(), SLOW])
def test_parameters_out_of_range_are_refused(name, value):
    assert "parameters of fabric_top out of range" in lint("fabric_top", {**SMALL, name: value})


def test_lint_finds_a_latch(tmp_path):
    bad = "// SPDX\nmodule bad (input logic a, b, output logic c);\n  always_comb if (a) c = b;\nendmodule\n"
    (tmp_path / "bad.sv").write_text(bad, encoding="utf-8")
    assert "LATCH" in lint("bad", files=[tmp_path / "bad.sv"])
