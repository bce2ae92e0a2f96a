# SPDX-License-Identifier: Apache-2.0
"""Translates the simulated SoC into C++: verilate.py FOLDER, with options. tools/mk/soc.mk compiles it."""

import argparse
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "verify" / "benches"))

import sources

SERIAL = sources.SOC.parent / "cosim" / "serial.cc"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--write-back", action="store_true", help="with the write-back data cache")
    arguments = parser.parse_args()
    try:
        return translate(arguments.folder.resolve(), write_back=arguments.write_back)
    except ValueError as error:
        print(f"soc: {error}", file=sys.stderr)
        return 1


def translate(folder: Path, *, write_back: bool) -> int:
    """Runs Verilator; returns its status. Raises ValueError for a checkout of CVA6 that is none."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [
        "verilator", "--cc", "--exe", "-o", "soc_sim", "-LDFLAGS", "-latomic", "--no-timing", "-Wno-fatal",
        "--x-assign", "fast", "--x-initial", "fast", "-O3", "--output-split", "20000", "--top-module", "soc_sim",
        "-Mdir", str(folder),
        *sources.arguments(folder, write_back=write_back),
        "-CFLAGS", f"-I{SERIAL.parent}",
        str(sources.SOC / "sim" / "soc_sim.sv"), str(sources.SOC / "sim" / "main.cc"), str(SERIAL),
    ]  # fmt: skip
    return subprocess.run(command, env=sources.environment(), check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
