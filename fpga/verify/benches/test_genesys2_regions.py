# SPDX-License-Identifier: Apache-2.0
"""The regions of the Genesys2 (fpga/target/genesys2/regions.toml): what they have and what their tasks need."""

import re
import sys

import pytest
from rtl_tools import FPGA

sys.path.insert(0, str(FPGA / "target" / "genesys2"))

import regions

from tessera.fabric import synthesis


def test_the_regions_have_what_their_tasks_need():
    assert regions.check(regions.load()) == []


CHANGES = [
    ("SLICE_X0Y250:SLICE_X13Y299", "SLICE_X0Y251:SLICE_X13Y299", "region 0: .* has no whole clock regions"),
    ("SLICE_X0Y250:SLICE_X13Y299", "SLICE_X0Y250:SLICE_X9Y299", "region 0: .* ends between RAMB36_X0 and DSP48_X0"),
    ("SLICE_X0Y250:SLICE_X13Y299", "SLICE_X0Y250:SLICE_X15Y299", "region 2: .* overlaps region 0"),
    ("SLICE_X14Y200:SLICE_X35Y299", "SLICE_X14Y200:SLICE_X37Y299", "contains the column of clocks after SLICE_X35"),
    ("SLICE_X36Y250:SLICE_X67Y299", "SLICE_X36Y250:SLICE_X81Y299", "is outside of SLICE_X0Y0:SLICE_X79Y349"),
    ("DSP48_X0Y100:DSP48_X0Y119", "DSP48_X0Y100:DSP48_X0Y109", "expected DSP48_X0Y100:DSP48_X0Y119, all columns"),
    (
        '"qam16", "qam64"]',
        '"qam16", "fft512"]',
        r"fft512 needs \d+ luts, the region has 2800, of which 2100 may be used",
    ),
    ('"aes128", "g722"]', '"aes128", "fft1024"]', "region 1: fft1024 needs 32 dsp, the region has 20"),
    ('"fft512", "fft1024"]', '"fft512"]', "task fft1024: no region can hold it"),
    ('"qam16", "qam64"]', '"qam32"]', "task 'qam32' is not in"),
]


@pytest.mark.parametrize(("old", "new", "error"), CHANGES)
def test_a_region_that_does_not_fit_is_refused(tmp_path, old, new, error):
    text = regions.FILE.read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "regions.toml").write_text(text.replace(old, new, 1), encoding="utf-8")
    found = regions.check(regions.load(tmp_path / "regions.toml"))
    assert any(re.search(error, line) for line in found), found


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("SLICE_X0Y250:SLICE_X13Y299", "SLICE_X0Y250", "region 0, slices: expected SLICE_XaYb:SLICE_XcYd, got 'SL"),
        ("SLICE_X0Y250:SLICE_X13Y299", "SLICE_X13Y250:SLICE_X0Y299", "ends before it begins"),
        ('bram36 = "RAMB36_X0Y50:RAMB36_X0Y59"\n', "", "region 0: has no 'bram36'"),
        ("[tasks]", "[other]", "has no 'tasks'"),
    ],
)  # fmt: skip
def test_a_malformed_file_is_refused(tmp_path, old, new, error):
    text = regions.FILE.read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "regions.toml").write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(regions.RegionError, match=re.escape(error)):
        regions.load(tmp_path / "regions.toml")


def test_the_tasks_need_what_their_synthesis_gives():
    plan = regions.load()
    results = synthesis.read()
    assert {name: task.needs["luts"] for name, task in plan.tasks.items()} == {
        name.removeprefix("hwtask_"): found["luts"] for name, found in results.items() if name.startswith("hwtask_")
    }
    assert plan.port == {what: results["region_port"][what] for what in ("luts", "registers")}
    package = (FPGA / "hw" / "rtl" / "fabric" / "fabric_pkg.sv").read_text(encoding="utf-8")
    numbers = {name.lower(): int(number) for name, number in re.findall(r"Task(\w+) = 8'd([1-9])", package)}
    assert {name: task.number for name, task in plan.tasks.items()} == numbers


def test_the_configurations_have_each_task_in_each_region_that_can_hold_it():
    plan = regions.load()
    held = {(region, task) for tasks in plan.configurations() for region, task in enumerate(tasks)}
    assert held == {(region.number, task) for region in plan.regions for task in region.tasks}
    assert plan.configurations()[0] == ("qam64", "aes128", "fft1024")
