# SPDX-License-Identifier: Apache-2.0
"""Verilator, with all its warnings on, has nothing to say about any module of ours; and it does find a latch."""

import pytest
from rtl_lab import RTL, lint

MODULES = [path.stem for path in sorted(RTL.glob("*.sv")) if not path.stem.endswith("_pkg")]


@pytest.mark.parametrize("module", MODULES)
def test_lint(module):
    complaints = lint(module)
    assert not complaints, complaints


def test_lint_finds_a_latch(tmp_path, monkeypatch):
    bad = "// SPDX\nmodule bad (input logic a, b, output logic c);\n  always_comb if (a) c = b;\nendmodule\n"
    (tmp_path / "bad.sv").write_text(bad, encoding="utf-8")
    monkeypatch.setattr("rtl_lab.RTL", tmp_path)
    assert "LATCH" in lint("bad")
