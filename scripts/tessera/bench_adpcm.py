# SPDX-License-Identifier: Apache-2.0
"""Reads what guests/examples/adpcm prints, and compares its cost in VMs with its cost natively (docs/benchmarks.md)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tessera.bench_parse import ParseError

PARTS = 10
_WORK = re.compile(r"^ADPCM frames (\d+) codes (0x[0-9a-f]+) samples (0x[0-9a-f]+) ticks (\d+)$", re.MULTILINE)
_MARK = re.compile(r"^ADPCM mark (\d+) (\d+)$", re.MULTILINE)
_TOLD = re.compile(r"^ADPCM reported (\d+)$", re.MULTILINE)


@dataclass(frozen=True)
class Run:
    """One guest's work: what it was and came to, and the hart's instret at its start and after each tenth of it."""

    work: tuple[str, ...]  # frames, checksum of the octets, checksum of the samples
    ticks: int  # of the guest's operating system while it worked
    marks: tuple[int, ...]
    told: int  # instret when it began to print

    @property
    def instructions(self) -> int:
        return self.marks[-1] - self.marks[0]


def parse_run(console: str) -> Run:
    """ParseError if the guest has not said all of it, or says that it failed."""
    failed = re.search(r"^BENCH failed: .*", console, re.MULTILINE)
    if failed:
        raise ParseError(failed[0])
    work, told = _WORK.search(console), _TOLD.search(console)
    marks = {int(match[1]): int(match[2]) for match in _MARK.finditer(console)}
    if work is None or told is None or set(marks) != set(range(PARTS + 1)):
        raise ParseError(f"the ADPCM guest said only: {console[-200:]!r}")
    return Run(work.groups()[:3], int(work[4]), tuple(marks[part] for part in range(PARTS + 1)), int(told[1]))


def overheads(runs: Sequence[Run], native: Run) -> list[float]:
    """
    Percent that the hart executed beyond the guests' native work, after each tenth of it: from the first start to the
    last guest's mark, over as many times the native instructions. All guests sharing the hart, it never sleeps between.
    ParseError if the runs are not comparable.
    """
    _check_comparable(runs, native)
    start = min(run.marks[0] for run in runs)
    share = [len(runs) * (native.marks[part] - native.marks[0]) for part in range(PARTS + 1)]
    return [100 * ((_last(runs, part) - start) / share[part] - 1) for part in range(1, PARTS + 1)]


def _last(runs: Sequence[Run], part: int) -> int:
    """When the last guest had done that many tenths."""
    return max(run.marks[part] for run in runs)


def _check_comparable(runs: Sequence[Run], native: Run) -> None:
    if any(run.work != native.work for run in runs):
        raise ParseError(f"not the same work: natively {native.work}, in VMs {sorted({run.work for run in runs})}")
    if _last(runs, 0) >= min(run.marks[1] for run in runs):
        raise ParseError("the guests did not begin together")
    if min(run.told for run in runs) <= _last(runs, PARTS):
        raise ParseError("a guest was printing while another worked")


def tick_cost(native: Run, bare: Run) -> float:
    """Instructions that the operating system spends on a tick: natively, beside the same work without it."""
    if native.work != bare.work or native.ticks == 0:
        raise ParseError(f"no tick to be had from {native.ticks} ticks, work {native.work} and {bare.work}")
    return (native.instructions - bare.instructions) / native.ticks


def tick_share(runs: Sequence[Run], native: Run, cost: float) -> float:
    """
    The part of the overhead, in percent, that is the guests' own: n guests on one hart take n times as long, and have
    that many more ticks to count for the same work.
    """
    further = sum(run.ticks for run in runs) - len(runs) * native.ticks
    return 100 * further * cost / (len(runs) * native.instructions)
