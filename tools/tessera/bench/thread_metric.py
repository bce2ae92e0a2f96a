# SPDX-License-Identifier: Apache-2.0
"""
What a VM leaves of the services of an RTOS (tests/guests/thread_metric): passes in a VM in percent of
those without a hypervisor, for equal numbers of instructions.

Beside a busy VM (tests/guests/slices), the instructions are all that the hart executed in the row's time
except those of the busy VM itself, which notes its slices. So everything that the hypervisor
executes, switches and interrupts of both VMs included, counts against the RTOS, and the share of the hart that
the busy VM uses does not.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tessera.bench.parse import ParseError, figures, gaps

# The rows, as Ker-ONE's table has them, and cooperative switches.
ROWS = (
    "calibration",
    "cooperative",
    "preemptive",
    "messages",
    "memory",
    "synchronization",
    "interrupt",
    "preemption",
)
LEAST = 0.45  # share of the hart that a VM beside another busy one uses
DEVICE = "device"  # the interrupt of an emulated device, on RISC-V
_WINDOW = re.compile(r"^WINDOW (\w+) (\d+) (\d+)$", re.MULTILINE)


@dataclass(frozen=True)
class Row:
    """A row of a run: its passes, and the instructions of the hart when it began and ended."""

    passes: int
    begin: int
    end: int


def rows(console: str) -> dict[str, Row]:
    """Returns the rows that a guest has printed."""
    found = {match[1]: (int(match[2]), int(match[3])) for match in _WINDOW.finditer(console)}
    return {name: Row(int(figure.min), *found[name]) for name, figure in figures(console).items() if name in found}


def slices(console: str) -> list[tuple[int, int]]:
    """Returns the slices of a busy VM: the first and the last instruction that it has noted of each."""
    noted = gaps(console)
    return [(after, before) for (_, after), (before, _) in pairwise(noted)]


def others(row: Row, busy: Sequence[tuple[int, int]]) -> int:
    """
    Returns the hart's instructions in a row without those in the slices of the busy VM. Raises ParseError if the
    busy VM did not use LEAST of the row: then the row was not beside load.
    """
    inside = (min(end, row.end) - max(begin, row.begin) for begin, end in busy)
    used = sum(filter(lambda length: length > 0, inside))
    if busy and used < LEAST * (row.end - row.begin):
        raise ParseError(f"the busy VM executed only {used} of {row.end - row.begin} instructions of a row")
    return row.end - row.begin - used


def shares(
    in_vm: Mapping[str, Row], native: Mapping[str, Row], wanted: Iterable[str], busy: Sequence[tuple[int, int]] = ()
) -> dict[str, float]:
    """
    Returns each row's passes for an instruction in a VM, in percent of those natively. Raises ParseError if a
    wanted row is missing.
    """
    missing = [name for name in wanted if name not in in_vm or name not in native]
    if missing:
        raise ParseError(f"the guest did not report {', '.join(missing)}")
    return {
        name: 100 * (in_vm[name].passes / others(in_vm[name], busy)) / (native[name].passes / others(native[name], ()))
        for name in wanted
    }
