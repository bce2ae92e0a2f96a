# SPDX-License-Identifier: Apache-2.0
"""The script that builds the Genesys2's bitstreams, run by a Tcl interpreter with Vivado's commands recorded."""

import re
import subprocess
import sys
from pathlib import Path

from rtl_tools import FPGA

sys.path.insert(0, str(FPGA / "target" / "genesys2"))

import design
import regions

STUB = Path(__file__).with_name("vivado_stub.tcl")
PLENTY = "SLICE 2400 RAMB36 20 DSP48 40"


def run_script(folder: Path, sites: str = PLENTY, slack: str = "0.5") -> tuple[list[str], subprocess.CompletedProcess]:
    """Runs dfx.tcl with Vivado's commands recorded; returns these."""
    folder.mkdir()
    names = " ".join(f"{name} {task.number}" for name, task in regions.load().tasks.items())
    plan = regions.load()
    text = f"""
        set part {plan.part}
        set top genesys2
        set gateware {{{folder}}}
        set include_dirs {{inc}}
        set defines {{WT_DCACHE}}
        set static_sources {{a_pkg.sv top.v}}
        set task_sources {{a_pkg.sv region.sv}}
        set tasks {{{names}}}
        set regions {design._tcl([design._region(plan, region) for region in plan.regions])}
        set configurations {design._tcl([" ".join(tasks) for tasks in plan.configurations()])}
    """
    (folder / "design.tcl").write_text(text, encoding="utf-8")
    record = folder / "record"
    command = [
        "tclsh",
        str(STUB),
        str(FPGA / "target" / "genesys2" / "dfx.tcl"),
        str(record),
        sites,
        slack,
        str(folder),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return record.read_text(encoding="utf-8").replace(f"{folder}/", "").splitlines(), done


def first_words(commands: list[str]) -> list[str]:
    return [command.split()[0] for command in commands]


def test_the_script_builds_each_bitstream_once(tmp_path):
    commands, done = run_script(tmp_path / "dfx")
    assert done.returncode == 0, done.stderr
    written = [command for command in commands if command.startswith("write_bitstream")]
    plan = regions.load()
    expected = {
        f"write_bitstream -force -bin_file -cell {{soc/gen_region[{region.number}].i_region}} "
        f"partial/{plan.tasks[task].number}-{region.number}.bit"
        for region in plan.regions
        for task in region.tasks
    }
    assert written[0] == "write_bitstream -force -no_partial_bitfile genesys2.bit"
    assert len(written[1:]) == len(expected) and set(written[1:]) == expected
    for setting in ("COMPRESS FALSE", "CRC ENABLE"):
        assert commands.count(f"set_property BITSTREAM.GENERAL.{setting} design") == 6


def test_the_script_floorplans_before_it_places(tmp_path):
    commands, _ = run_script(tmp_path / "dfx")
    words = first_words(commands)
    first_opt = words.index("opt_design")
    assert words[:first_opt].count("create_pblock") == 3 == words.count("create_pblock")
    assert words[:first_opt].count("resize_pblock") == 12
    for number in range(3):
        cell = f"{{soc/gen_region[{number}].i_region}}"
        assert commands.index(f"set_property HD.RECONFIGURABLE true {cell}") < first_opt
        assert commands.index(f"set_property RESET_AFTER_RECONFIG true region_{number}") < first_opt
    assert "resize_pblock region_2 -add RAMB18_X1Y80:RAMB18_X1Y119" in commands


def test_the_script_keeps_the_static_design(tmp_path):
    commands, _ = run_script(tmp_path / "dfx")
    words = first_words(commands)
    lock = commands.index("lock_design -level routing")
    assert words[:lock].count("route_design") == 1 and words.count("route_design") == 6
    assert words[:lock].count("update_design") == 3 == words.count("update_design")
    assert commands[lock + 1] == "write_checkpoint -force vivado/static_routed.dcp"
    assert commands[lock:].count("open_checkpoint vivado/static_routed.dcp") == 5
    others = " ".join(f"vivado/configuration_{index}.dcp" for index in range(1, 6))
    verify = commands.index(f"pr_verify -initial vivado/configuration_0.dcp -additional {{{others}}}")
    assert words.index("write_bitstream") > verify > len(words) - 1 - words[::-1].index("route_design")


def test_the_script_synthesizes_each_task_with_its_number(tmp_path):
    commands, _ = run_script(tmp_path / "dfx")
    made = [command for command in commands if command.startswith("synth_design -mode out_of_context")]
    assert [re.search(r"-generic Task=(\d)", command)[1] for command in made] == list("123456")
    static = next(command for command in commands if command.startswith("synth_design -top genesys2"))
    assert static.endswith("-include_dirs inc -verilog_define WT_DCACHE")
    assert commands.index(static) > commands.index(made[-1])


def test_too_few_sites_end_the_script(tmp_path):
    commands, done = run_script(tmp_path / "dfx", sites="SLICE 2400 RAMB36 20 DSP48 31")
    assert done.returncode != 0 and "region_2 has 31 dsp, its largest task needs 32" in done.stderr
    assert "place_design" not in first_words(commands)


def test_missed_timing_ends_the_script(tmp_path):
    commands, done = run_script(tmp_path / "dfx", slack="-0.25")
    assert done.returncode != 0 and "configuration 0 (qam64 aes128 fft1024) misses its timing by 0.25 ns" in done.stderr
    assert "write_bitstream" not in first_words(commands)
