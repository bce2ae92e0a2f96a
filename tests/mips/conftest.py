# SPDX-License-Identifier: Apache-2.0
"""
Builds systems for the boards of the M5150 and runs them in iasim, repeatably, up to an instruction
limit.
"""

import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from fcntl import LOCK_EX, flock
from functools import cache
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import pytest

from tessera.run import hosttime
from tessera.run.machine import HYPERVISOR, Console
from tessera.run.runner import ROOT, BuiltSystem, iasim_command, load_system

CLOCK_HZ = 100_000_000
BOARDS = ("m5150", "m5150-generic")
# The boards, and the part with the hypervisor compiled for size (microMIPS).
TARGETS = (*BOARDS, "m5150.size")
# For what hardly depends on the board; in soak, on all.
MOST = ("m5150", pytest.param("m5150-generic", marks=pytest.mark.long), "m5150.size")
ESCAPE = "\x14"


def in_turn(values: Sequence[Any], turns: Sequence[int] | None = None) -> list:
    """
    Parameters: each value on each target. All but one target per value are marked for `make soak`
    only; the target rotates with the value, or with `turns` if several values belong together.
    """
    turns = range(len(values)) if turns is None else turns
    return [
        pytest.param(value, target, marks=() if target == TARGETS[turn % len(TARGETS)] else pytest.mark.long)
        for turn, value in zip(turns, values, strict=True)
        for target in TARGETS
    ]


@dataclass(frozen=True)
class Run:
    """A run: the console's output by VM and in total, iasim's messages, the exit code."""

    console: Console
    printed: str
    remarks: str
    code: int

    def text(self, name: str) -> str:
        return self.console.text(name)

    def span(self, name: str) -> dict[str, int]:
        """Statistics of a span over all contexts: n, min, median, max."""
        found = re.search(rf"^span {re.escape(name)} +all +(.*)$", self.remarks, re.MULTILINE)
        assert found, f"no span '{name}' in:\n{self.remarks}"
        return {key: int(value) for key, value in re.findall(r"(\w+) +(\d+)", found[1])}

    def executed(self, context: str) -> int:
        """Instructions of `root` or `guest N`, in kernel mode."""
        found = re.search(rf"^ +{context} +(\d+)", self.remarks, re.MULTILINE)
        assert found, f"no '{context}' in:\n{self.remarks}"
        return int(found[1])

    def entered(self, context: str) -> int:
        found = re.search(rf"^ +{context} +\d+ +\d+ +(\d+)", self.remarks, re.MULTILINE)
        assert found, f"no '{context}' in:\n{self.remarks}"
        return int(found[1])


def make(*words: str) -> None:
    """Runs make, also under another make; one at a time, since pytest-xdist's workers share the build folder."""
    environment = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    command = ["make", "--no-print-directory", "-s", *words]
    with (ROOT / "build" / "mips.lock").open("w") as lock:
        flock(lock, LOCK_EX)
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, f"{' '.join(command)} failed:\n{done.stdout[-3000:]}{done.stderr[-3000:]}"


@cache
def build(system: str, target: str) -> BuiltSystem:
    """
    Builds a system of tests/mips/systems, or else of systems/, for `target` instead of the board it
    names.
    """
    board, _, variant = target.partition(".")
    own = ROOT / "tests" / "mips" / "systems" / f"{system}.dts"
    source = own if own.is_file() else ROOT / "systems" / f"{system}.dts"
    text = re.sub(r'board = "m5150[a-z-]*"', f'board = "{board}"', source.read_text(encoding="utf-8"))
    name = f"{system}-on-{target}"
    copy = ROOT / "build" / "mips" / f"{name}.dts"
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_text(text, encoding="utf-8")
    make("image", f"SYSTEM=../build/mips/{name}", f"BOARD={board}", *([f"HYP_FOR={variant}"] if variant else []))
    return load_system(f"../build/mips/{name}")


def run(
    system: str,
    board: str,
    *options: str,
    typed: Sequence[tuple[float, str]] = (),
    limit: str = "200M",
) -> Run:
    """
    Runs the system on the board up to `limit` instructions. `typed`: console input, with its time
    in seconds.
    """
    built = build(system, board)
    keys = [(round(at * CLOCK_HZ), byte) for at, text in typed for byte in text.encode("latin-1")]
    with NamedTemporaryFile() as record:
        Path(record.name).write_text("".join(f"{at} {byte}\n" for at, byte in keys), encoding="ascii")
        command = iasim_command(built, "--stats", "--limit", limit, "--replay", record.name, *options)
        done = hosttime.run(command, 300)
    console = Console([*built.names, HYPERVISOR])
    printed = done.stdout.decode("latin-1")
    console.feed(printed)
    return Run(console, printed, done.stderr.decode(), done.returncode)
