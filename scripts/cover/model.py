# SPDX-License-Identifier: Apache-2.0
"""Which lines were executed, and which ways their conditional branches went."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class CoverError(Exception):
    """Coverage cannot be told; the text says why."""


@dataclass
class Line:
    """`ways`: an entry for each way that a conditional branch of this line can go, true if one went so."""

    executed: bool = False
    ways: list[bool] = field(default_factory=list)

    def merge(self, other: "Line") -> None:
        """The same line of the same code, compiled or run once more."""
        self.executed |= other.executed
        self.ways = [a or b for a, b in zip_longest(self.ways, other.ways, fillvalue=False)]


Sources = dict[str, dict[int, Line]]  # by file, relative to the top, and line number; lines without code are missing


@dataclass(frozen=True)
class Total:
    """How many there are, and how many of these were executed, or taken."""

    lines: int = 0
    executed: int = 0
    ways: int = 0
    taken: int = 0

    def __add__(self, other: "Total") -> "Total":
        return Total(
            self.lines + other.lines,
            self.executed + other.executed,
            self.ways + other.ways,
            self.taken + other.taken,
        )

    @property
    def lines_percent(self) -> float:
        return percent(self.executed, self.lines)

    @property
    def ways_percent(self) -> float:
        return percent(self.taken, self.ways)


def percent(part: int, whole: int) -> float:
    """All of nothing is all."""
    return 100.0 * part / whole if whole else 100.0


def total(lines: Iterable[Line]) -> Total:
    """Of some lines, such as those of a file."""
    found = [*lines]
    return Total(
        len(found),
        sum(line.executed for line in found),
        sum(len(line.ways) for line in found),
        sum(sum(line.ways) for line in found),
    )
