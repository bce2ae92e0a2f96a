# SPDX-License-Identifier: Apache-2.0
"""Measures the figure cosim.speedup: measure.py FOLDER, the folder with the programs lockstep and lockstep-pins.

Both do the same random work. The programs alternate, and the best of some runs counts: another load of the machine
slows down single runs.
"""

import argparse
import json
import subprocess
from pathlib import Path

from figures import measured

CYCLES = 400_000
SEED = 1
RUNS = 4


def speed(program: Path) -> float:
    """Cycles a second of CPU time."""
    command = [str(program), str(CYCLES), str(SEED)]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return float(found["cycles_per_s"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    runs = [(speed(folder / "lockstep"), speed(folder / "lockstep-pins")) for _ in range(RUNS)]
    split, pins = (max(found) for found in zip(*runs, strict=True))
    print(f"cosim: {split:,.0f} cycles/s of CPU time, {pins:,.0f} in one class: {split / pins:.2f} times")
    measured("cosim.speedup", round(split / pins, 2))


if __name__ == "__main__":
    main()
