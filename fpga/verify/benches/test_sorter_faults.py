# SPDX-License-Identifier: Apache-2.0
"""Fault injection into the sorter, one fault at a time: the proof must fail."""

import shutil

import pytest
import rtl_tools
from replacement import replaced

STEPS = 12  # commands and cycles after reset

FAULTS = {
    "put of a present value inserts": (
        "fabric_sorter.sv",
        "(op_i == OpPut && !present && !second_q)",
        "(op_i == OpPut)",
    ),
    "earlier order after a later one": ("fabric_sorter.sv", "!ahead[OrderBits-1];", "1'b1;"),
    "order of another slot": (
        "fabric_sorter.sv",
        "if (put && order_q[Depth-1] == SlotWidth'(i)) tie_q",
        "if (put) tie_q",
    ),
    "inserted before equal keys": ("sorter_ge.sv", "+ (Stages + 1)'(tie_i)", "+ '0"),
    "duplicate value accepted": ("fabric_sorter.sv", "if (present) status_o = StDuplicate; else if", "if"),
    "overwritten when full": ("fabric_sorter.sv", "(full)", "(1'b0)"),
    "position off by one": ("fabric_sorter.sv", "CountWidth'(p) >= at)", "CountWidth'(p) > at)"),
    "slot not freed": ("fabric_sorter.sv", "else if (take && taken_slot == SlotWidth'(i)) used_q[i] <= 1'b0;", ""),
    "wrong key at the head": ("fabric_sorter.sv", "if (put) copy_q", "if (put && !second_q) copy_q"),
    "entry lost by an update": ("fabric_sorter.sv", "(inserts || second_q)", "(inserts)"),
}


@pytest.mark.long
@pytest.mark.timeout(300)
@pytest.mark.parametrize("fault", FAULTS)
def test_the_proof_finds(fault):
    name, right, wrong = FAULTS[fault]
    # Not in /tmp: YoWASP cannot access /tmp.
    folder = rtl_tools.BUILD / "faults-sorter" / fault.replace(" ", "-")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(rtl_tools.RTL, folder / "rtl")
    file = folder / rtl_tools.yosys_path(name.removesuffix(".sv"))
    text = file.read_text(encoding="utf-8")
    file.write_text(replaced(text, right, wrong), encoding="utf-8")
    with pytest.raises(AssertionError, match="not proven"):
        rtl_tools.prove(rtl_tools.FORMAL / "fabric_sorter-order.sby", folder / "rtl", folder / "proof", STEPS)
    log = (folder / "proof" / "logfile.txt").read_text(encoding="utf-8")
    assert "DONE (FAIL" in log, log[-2000:]
