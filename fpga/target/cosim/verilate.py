# SPDX-License-Identifier: Apache-2.0
"""Translates a module into a Verilated class: verilate.py MODULE FOLDER, with options.

Run by tools/mk/cosim.mk, which compiles the result. Search paths and options are those of the benches.
"""

import argparse
import subprocess
import sys
from pathlib import Path

from rtl_tools import FPGA, INCLUDES, LIBRARIES, find_module, packages, tool_environment

COSIM = FPGA / "target" / "cosim"


def source_of(module: str) -> Path:
    own = COSIM / f"{module}.sv"
    return own if own.is_file() else find_module(module)


def command(module: str, folder: Path, *, fst: bool, replace: bool, parameters: list[str]) -> list[str]:
    """Verilator's command line. With `replace`, the modules in that folder replace those of the same name."""
    own = [COSIM, COSIM / "replace"] if replace else [COSIM]
    places = [word for place in (*own, *LIBRARIES) for word in ("-y", str(place))]
    return [
        "verilator", "--cc", "--no-timing", "+libext+.sv", "--x-assign", "fast", "--x-initial", "fast", "-O3",
        "--top-module", module, "-Mdir", str(folder), "--output-split", "20000", *(["--trace-fst"] if fst else []),
        *(f"-G{parameter}" for parameter in parameters), *places, *(f"+incdir+{place}" for place in INCLUDES),
        str(FPGA / "waivers.vlt"), *map(str, packages()), str(source_of(module)),
    ]  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("module")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--name", help="of the class, without its V (default: the module's)")
    parser.add_argument("--fst", action="store_true", help="with waveforms")
    parser.add_argument("--rtl-only", action="store_true", help="without the replacements in fpga/target/cosim/replace")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the module")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    replace = not arguments.rtl_only
    words = command(arguments.module, arguments.folder, fst=arguments.fst, replace=replace, parameters=arguments.set)
    words += ["--prefix", f"V{arguments.name or arguments.module}"]
    return subprocess.run(words, env=tool_environment(), check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
