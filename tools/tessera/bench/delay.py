# SPDX-License-Identifier: Apache-2.0
"""The delays of jobs on a device of an RT app, from what the guest `modem` prints and the fabric's trace of regions."""

import re
from itertools import pairwise
from pathlib import Path

from tessera.bench.machine import with_options
from tessera.bench.parse import ParseError
from tessera.image.board import read_board
from tessera.run.runner import ROOT

TICK_NS = 100
BUDGET_US = 120  # systems/bench/rt-device.dts
MODEM, QAM16 = "0", "0"  # its number in the fabric, and the device's


def with_trace(command: list[str], trace: Path) -> list[str]:
    """Returns QEMU's command, changed so that the simulated fabric writes the changes of its regions into `trace`."""
    return with_options(command, f"trace={trace}")


def _costs_ns() -> int:
    """What admission adds on one hart."""
    costs = read_board(ROOT / "platform" / "qemu-virt" / "board.dts").rt_costs(harts=1)
    return costs.release_ns + costs.switch_ns + costs.blocked_ns


def bound_us(text: str) -> float:
    """Returns the bound on a job's delay: the answer of HCALL_RT_USE_DEVICE, and the only app's job before its end."""
    found = re.search(r"modem: a job on the device takes at most (\d+) us, apps aside", text)
    if not found:
        raise ParseError("expected 'modem: a job on the device takes at most ... us', got none")
    return int(found[1]) + BUDGET_US + _costs_ns() / 1000


def _ends(trace: Path) -> list[int]:
    """When jobs of the app ended, in ns: it is never preempted."""
    rows = [line.split() for line in trace.read_text(encoding="utf-8").splitlines()[1:]]
    rows = [row for row in rows if row[1] == "0"]  # of its region
    return [
        int(after[0])
        for before, after in pairwise(rows)
        if before[2:5] == ["busy", MODEM, QAM16] and after[2] != "busy"
    ]


def delays(text: str, trace: Path) -> list[int]:
    """Returns the nanoseconds from the first write of each job to its end on the device, the last job's left out."""
    started = [int(ticks) * TICK_NS for ticks in re.findall(r"modem: job \d+ started at (\d+)", text)]
    ended = _ends(trace)
    if len(started) < 2 or not ended or ended[-1] < started[-2]:
        raise ParseError(f"expected an end for each job on the device, got {len(ended)} for {len(started)}")
    return [min(end for end in ended if end > start) - start for start in started[:-1]]
