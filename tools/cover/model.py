# SPDX-License-Identifier: Apache-2.0
"""The executed lines, and the directions that their conditional branches have taken."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class CoverError(Exception):
    """Coverage cannot be determined; the text names the cause."""


@dataclass
class Line:
    """A line. `directions`: an entry for each direction of the line's conditional branches, true if
    it was taken."""

    executed: bool = False
    directions: list[bool] = field(default_factory=list)

    def merge(self, other: "Line") -> None:
        """Merges the same line from another object or another run."""
        self.executed |= other.executed
        self.directions = [a or b for a, b in zip_longest(self.directions, other.directions, fillvalue=False)]


Sources = dict[str, dict[int, Line]]  # by file, relative to the top, and by line number; only lines with code


@dataclass(frozen=True)
class Total:
    """The numbers of lines and of directions, and of executed lines and taken directions."""

    lines: int = 0
    executed: int = 0
    directions: int = 0
    taken: int = 0

    def __add__(self, other: "Total") -> "Total":
        return Total(
            self.lines + other.lines,
            self.executed + other.executed,
            self.directions + other.directions,
            self.taken + other.taken,
        )

    @property
    def lines_percent(self) -> float:
        return percent(self.executed, self.lines)

    @property
    def directions_percent(self) -> float:
        return percent(self.taken, self.directions)


def percent(part: int, whole: int) -> float:
    """Returns the percentage; 100 of an empty whole."""
    return 100.0 * part / whole if whole else 100.0


def total(lines: Iterable[Line]) -> Total:
    """Sums up lines, such as those of a file."""
    found = [*lines]
    return Total(
        len(found),
        sum(line.executed for line in found),
        sum(len(line.directions) for line in found),
        sum(sum(line.directions) for line in found),
    )
