# SPDX-License-Identifier: Apache-2.0
"""Figures of a netlist: planted slow paths move the longest path, and what sta or the count would miss is an error."""

import json
import shutil
from pathlib import Path

import netlist
import pytest
from netlist import NetlistError
from synth import blocks, map_and_time, run_yosys, synthesize

from tessera.fabric import synthesis

# Between registers, through a chain of multiplexers that cannot be balanced; the paths of inputs and outputs are short.
CHAIN = """
module chain #(parameter Levels = 1) (input clk, input rst_n, input [7:0] in, output reg [7:0] out);
  reg [7:0] state [0:Levels];
  reg [7:0] next;
  integer i;
  always @* begin
    next = state[0];
    for (i = 1; i <= Levels; i = i + 1) next = (next + state[i]) ^ (next >> 1);
  end
  always @(posedge clk or negedge rst_n)
    if (!rst_n) out <= 0;
    else out <= next;
  genvar g;
  generate
    for (g = 1; g <= Levels; g = g + 1) begin : gen_state
      always @(posedge clk) state[g] <= state[g - 1];
    end
  endgenerate
  always @(posedge clk) state[0] <= in;
endmodule
"""
# From a block RAM (simple dual-port) and from distributed memory (single port) through a multiplier to a register; the
# asynchronous reset keeps this register out of the DSP48.
HARD = """
module hard (input clk, input rst_n, input we, input [8:0] at, input [35:0] in, output reg [31:0] out);
  reg [35:0] wide [0:511], word;
  reg [15:0] small [0:63];
  reg [8:0] from;
  wire [5:0] low = from[5:0] ^ in[5:0];
  always @(posedge clk) begin
    from <= at;
    if (we) wide[at] <= in;
    if (we) small[low] <= in[15:0];
    word <= wide[from];
  end
  always @(posedge clk or negedge rst_n)
    if (!rst_n) out <= 0;
    else out <= word[35:20] * small[low];
endmodule
"""
CLOCK_TO_RAM, MULTIPLIER = 2.454, 2.69  # ns, of the models


def synthesized(folder: Path, text: str, top: str, **parameters: int) -> dict[str, float]:
    """The figures of a synthesis by the flow, in the empty `folder`."""
    (folder / "planted.v").write_text(text, encoding="utf-8")
    sets = "; ".join(f"chparam -set {key} {value} {top}" for key, value in parameters.items())
    return map_and_time(folder, top, f"read_verilog planted.v; {sets}")


@pytest.mark.long
def test_a_slow_path_between_registers_moves_the_figure(tmp_path_factory):
    chains = (synthesized(tmp_path_factory.mktemp("chain"), CHAIN, "chain", Levels=levels) for levels in (1, 12))
    short, long = (figures["path_ns"] for figures in chains)
    assert 0.5 < short < 3
    assert long > short + 4


@pytest.fixture(scope="module")
def hard(tmp_path_factory) -> tuple[Path, dict[str, float]]:
    """The folder of a synthesis, and its figures."""
    folder = tmp_path_factory.mktemp("hard")
    return folder, synthesized(folder, HARD, "hard")


def test_a_path_through_a_block_ram_and_a_multiplier_is_seen(hard):
    _, found = hard
    assert (found["bram36"], found["dsp"]) == (0.5, 1)
    assert CLOCK_TO_RAM + MULTIPLIER < found["path_ns"] < CLOCK_TO_RAM + MULTIPLIER + 0.5


def test_memories_without_delays_are_found(hard, tmp_path):
    """yosys' own models, uncorrected."""
    (tmp_path / "cells.v").write_text(netlist.MODELS.read_text(encoding="utf-8"), encoding="utf-8")
    shutil.copy(hard[0] / "net.json", tmp_path)
    run_yosys(tmp_path, netlist.TIMING.format(top="hard"))
    with pytest.raises(NetlistError, match="'RAM64X1S' has no timing arcs!"):
        netlist.longest_path(tmp_path, "hard")
    module = json.loads((tmp_path / "timed.json").read_text(encoding="utf-8"))["modules"]["hard"]
    assert "RAM64X1S.O" in netlist.unseen(module)


@pytest.mark.parametrize(
    "warning",
    [
        "Warning: Module 'FDRE' has no timing arcs!",
        "Warning: Cell type 'sealed' not recognised! Ignoring.",
        "Warning: Endpoint chain.\\out [0] has no (* sta_arrival *) value.",
    ],
)
def test_a_warning_of_sta_is_an_error(hard, tmp_path, warning):
    text = (hard[0] / "sta.txt").read_text(encoding="utf-8")
    (tmp_path / "sta.txt").write_text(f"{warning}\n{text}", encoding="utf-8")
    shutil.copy(hard[0] / "timed.json", tmp_path)
    with pytest.raises(NetlistError) as raised:
        netlist.longest_path(tmp_path, "hard")
    assert str(raised.value) == warning


def test_other_models_than_those_corrected_are_refused(tmp_path):
    text = netlist.MODELS.read_text(encoding="utf-8").replace("CLKBWRCLK => (DOBDO", "CLKBWRCLK *> (DOBDO", 1)
    with pytest.raises(NetlistError, match="in 7 places, not 8: see CORRECTIONS"):
        netlist.write_models(tmp_path, text)


def test_cells_of_unknown_size_are_refused():
    counted = netlist.count({"LUT6": 2, "INV": 1, "RAM64M": 1, "FDCE": 3, "RAMB18E1": 1, "CARRY4": 9})
    assert counted == {"luts": 7, "registers": 3, "bram36": 0.5, "dsp": 0}
    with pytest.raises(NetlistError, match="cells of unknown size: RAM256X1D, sealed"):
        netlist.count({"LUT6": 2, "sealed": 1, "RAM256X1D": 1})


@pytest.mark.long
def test_a_recorded_result_is_reproduced():
    block = next(block for block in blocks() if block.label == "hwtask_qam16")
    assert synthesize(block) == synthesis.read()["hwtask_qam16"]
