# SPDX-License-Identifier: Apache-2.0
"""Parses the output of guests/examples/adpcm; computes its overhead in VMs (docs/benchmarks.md)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tessera.bench.parse import ParseError

PARTS = 10
_WORK = re.compile(r"^ADPCM frames (\d+) codes (0x[0-9a-f]+) samples (0x[0-9a-f]+) ticks (\d+)$", re.MULTILINE)
_MARK = re.compile(r"^ADPCM mark (\d+) (\d+)$", re.MULTILINE)
_TOLD = re.compile(r"^ADPCM reported (\d+)$", re.MULTILINE)


@dataclass(frozen=True)
class Run:
    """One guest's work and its result, and the hart's instret at the start and after each tenth of
    the work."""

    work: tuple[str, ...]  # frames, checksum of the octets, checksum of the samples
    ticks: int  # of the guest's operating system during the work
    marks: tuple[int, ...]
    printed: int  # instret at the start of printing

    @property
    def instructions(self) -> int:
        return self.marks[-1] - self.marks[0]


def parse_run(console: str) -> Run:
    """Raises ParseError if the output is incomplete or reports a failure."""
    failed = re.search(r"^BENCH failed: .*", console, re.MULTILINE)
    if failed:
        raise ParseError(failed[0])
    work, printed = _WORK.search(console), _TOLD.search(console)
    marks = {int(match[1]): int(match[2]) for match in _MARK.finditer(console)}
    if work is None or printed is None or set(marks) != set(range(PARTS + 1)):
        raise ParseError(f"the ADPCM guest printed only: {console[-200:]!r}")
    return Run(work.groups()[:3], int(work[4]), tuple(marks[part] for part in range(PARTS + 1)), int(printed[1]))


def overheads(runs: Sequence[Run], native: Run) -> list[float]:
    """
    Returns the overhead in percent after each tenth of the work: the instructions from the first
    guest's start to the last guest's mark, relative to the native instructions times the number of
    guests. The hart never sleeps meanwhile, because all guests share it. Raises ParseError if the
    runs are not comparable.
    """
    _check_comparable(runs, native)
    start = min(run.marks[0] for run in runs)
    share = [len(runs) * (native.marks[part] - native.marks[0]) for part in range(PARTS + 1)]
    return [100 * ((_last(runs, part) - start) / share[part] - 1) for part in range(1, PARTS + 1)]


def _last(runs: Sequence[Run], part: int) -> int:
    """Returns instret when the last guest had completed that many tenths."""
    return max(run.marks[part] for run in runs)


def _check_comparable(runs: Sequence[Run], native: Run) -> None:
    if any(run.work != native.work for run in runs):
        raise ParseError(f"not the same work: natively {native.work}, in VMs {sorted({run.work for run in runs})}")
    if _last(runs, 0) >= min(run.marks[1] for run in runs):
        raise ParseError("the guests did not start together")
    if min(run.printed for run in runs) <= _last(runs, PARTS):
        raise ParseError("a guest was printing while another worked")


def tick_cost(native: Run, bare: Run) -> float:
    """Returns the instructions of a tick of the operating system: a native run compared with one
    without it."""
    if native.work != bare.work or native.ticks == 0:
        raise ParseError(f"no tick cost can be derived from {native.ticks} ticks, work {native.work} and {bare.work}")
    return (native.instructions - bare.instructions) / native.ticks


def tick_share(runs: Sequence[Run], native: Run, cost: float) -> float:
    """
    Returns the part of the overhead in percent that the guests' own ticks cause: n guests on one
    hart take n times as long, and handle n times as many ticks during the same work.
    """
    further = sum(run.ticks for run in runs) - len(runs) * native.ticks
    return 100 * further * cost / (len(runs) * native.instructions)
