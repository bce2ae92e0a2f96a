# SPDX-License-Identifier: Apache-2.0
"""Runs programs on the simulated SoC, and reads what they report."""

import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import costs
import sources
from rtl_tools import TOP

BUILD = TOP / "build" / "soc"
# With CVA6_DIR the core is the one of that checkout.
MODEL = "core-h" if sources.checkout() else "write-through"
PROGRAM = BUILD / ("program-h" if sources.checkout() else "program") / "program.bin"
DRAM = 0x8000_0000
STALE_OF = 1024
MOST_CYCLES = 20_000_000  # the program needs a million, with a DRAM of latency 1


@dataclass
class Report:
    """What fpga/target/soc/program printed (check.c)."""

    code: int
    checks: dict[str, int] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    cycles: dict[str, list[int]] = field(default_factory=dict)  # in the order of the lines
    paths: list[costs.Path] = field(default_factory=list)
    stale: int = -1  # symbols that the cache hid, of STALE_OF
    last: str = ""

    def worst(self, name: str) -> int:
        return max(self.cycles[name])

    def warm(self, name: str) -> int:
        """Cycles of a path whose code and data are in the caches."""
        return next(path.cycles for path in self.paths if path.name == name and not path.cold)


def parse(text: str, code: int) -> Report:
    report = Report(code)
    for line in text.removesuffix("\n").split("\n"):
        kind, _, rest = line.partition(" ")
        name, _, value = rest.partition(" ")
        if kind == "check":
            report.checks[name] = report.checks.get(name, 0) + 1
        elif kind == "wrong":
            report.wrong.append(rest)
        elif kind == "cycles":
            report.cycles.setdefault(name, []).append(int(value))
        elif kind == "path":
            report.paths.append(costs.parse_path(rest))
        elif kind == "stale":
            report.stale = int(name)
        report.last = line
    report.paths = costs.own(report.paths)
    return report


def start(*arguments: str, model: str = MODEL) -> subprocess.CompletedProcess[str]:
    """A run of the simulation."""
    command = [str(BUILD / model / "soc_sim"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)


def run(*, latency: int = 1, model: str = MODEL, program: Path = PROGRAM) -> Report:
    done = start(f"--latency={latency}", f"--cycles={MOST_CYCLES}", f"{DRAM:#x}:{program}", model=model)
    return parse(done.stdout, done.returncode)
