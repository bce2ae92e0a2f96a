# SPDX-License-Identifier: Apache-2.0
"""Fault injection into the sorter, one fault at a time: the proof must fail."""

import shutil

import pytest
import rtl_tools

STEPS = 12  # commands and cycles after reset

FAULTS = {
    "inserted before equal keys": ("sorter_ge.sv", "+ (Stages + 1)'(1)", "+ '0"),
    "duplicate value accepted": ("sorter.sv", "if (present) status_o = StDuplicate; else if", "if"),
    "overwritten when full": ("sorter.sv", "(full)", "(1'b0)"),
    "position off by one": ("sorter.sv", "CountWidth'(p) >= at)", "CountWidth'(p) > at)"),
    "slot not freed": ("sorter.sv", "else if (take && taken_slot == SlotWidth'(i)) used_q[i] <= 1'b0;", ""),
    "wrong key at the head": ("sorter.sv", "if (put) copy_q", "if (put && !second_q) copy_q"),
    "entry lost by an update": ("sorter.sv", "(op_i == OpInsert || second_q)", "(op_i == OpInsert)"),
}


@pytest.mark.long
@pytest.mark.timeout(300)
@pytest.mark.parametrize("fault", FAULTS)
def test_the_proof_finds(fault):
    name, right, wrong = FAULTS[fault]
    # Not in /tmp: YoWASP cannot access /tmp.
    folder = rtl_tools.BUILD / "faults-sorter"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(rtl_tools.RTL, folder / "rtl")
    file = folder / rtl_tools.yosys_path(name.removesuffix(".sv"))
    text = file.read_text(encoding="utf-8")
    assert text.count(right) == 1
    file.write_text(text.replace(right, wrong), encoding="utf-8")
    with pytest.raises(AssertionError, match="not proven"):
        rtl_tools.prove(rtl_tools.FORMAL / "sorter.sby", folder / "rtl", folder / "proof", STEPS)
    log = (folder / "proof" / "logfile.txt").read_text(encoding="utf-8")
    assert "DONE (FAIL" in log, log[-2000:]
