# SPDX-License-Identifier: Apache-2.0
"""
When a reconfiguration is worth its time: equations 9 to 11 of the paper on overlays in Linux's FPGA manager,
T_reconf + T_hw(n) < T_sw(n) for n frames, with measured times.

All times are in microseconds. Times of frames are proportional to their number, and T_hw(n) to the bytes
of a frame.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import floor, inf
from pathlib import Path

from tessera.fabric.bitstream import OVERHEAD, words_of

_COLUMNS = ("task", "bytes", "metric", "unit", "cycles", "kerone_soft", "kerone_hard", "kerone_reconf")
_WORD = 4  # bytes
REGIONS = (0, 1, 2)


class BreakEvenError(Exception):
    """A figure is missing or wrong; the text names it."""


@dataclass(frozen=True)
class Machine:
    """The speeds. `cpi`: cycles for an instruction, 1 in QEMU's time; `manager`: instructions of the hypervisor for a
    configuration; `per_word`: the fabric's cycles for a word of the bitstream, 2 if it is verified first."""

    cpu_mhz: float = 1000.0
    cpi: float = 1.0
    fabric_mhz: float = 100.0
    manager: float = 700.0
    per_word: float = 1.0

    def software_us(self, instructions: float) -> float:
        return instructions * self.cpi / self.cpu_mhz

    def hardware_us(self, cycles: float) -> float:
        return cycles / self.fabric_mhz

    def reconfiguration_us(self, region: int) -> float:
        """Returns the time of a configuration of a region, the manager's path 2 included."""
        words = words_of(region) + OVERHEAD / _WORD
        return self.hardware_us(words * self.per_word) + self.software_us(self.manager)


@dataclass(frozen=True)
class Published:
    """Times of a frame, and of a configuration."""

    soft: float
    hard: float
    reconf: float


@dataclass(frozen=True)
class Task:
    """A line of tools/break-even.tsv; `cycles` for `unit` bytes."""

    name: str
    size: int
    metric: str
    unit: int
    cycles: float
    kerone: Published | None


@dataclass(frozen=True)
class Case:
    """A task with frames of one size: the times of a frame in software and in hardware, and of a configuration."""

    task: str
    size: int
    soft: float
    hard: float
    reconf: float

    @property
    def frames(self) -> float:
        """Returns the least number of frames for which a configuration is worth its time; inf if there is none."""
        gain = self.soft - self.hard
        return floor(self.reconf / gain) + 1 if gain > 0 else inf

    def worth(self, frames: float) -> bool:
        """Equation 11: whether a configuration and the frames in hardware take less time than in software."""
        return self.reconf + frames * self.hard < frames * self.soft

    def load(self, rate: float, swaps: float) -> tuple[float, float]:
        """Returns which part of the time software needs for `rate` frames a second, and hardware with `swaps`
        configurations a second; more than 1: it cannot keep up."""
        return rate * self.soft / 1e6, (rate * self.hard + swaps * self.reconf) / 1e6

    def least_rate(self, swaps: float) -> float:
        """Returns the frames a second above which `swaps` configurations a second are worth it."""
        gain = self.soft - self.hard
        return swaps * self.reconf / gain if gain > 0 else inf

    def most_rates(self, swaps: float) -> tuple[float, float]:
        """Returns the frames a second that software and hardware keep up with."""
        return 1e6 / self.soft, max(0.0, 1e6 - swaps * self.reconf) / self.hard


def _published(cells: Mapping[str, str]) -> Published | None:
    texts = [cells[name] for name in _COLUMNS[-3:]]
    return None if "-" in texts else Published(*map(float, texts))


def _task(cells: Mapping[str, str], figures: Path | None) -> Task:
    """`figures`: the folder of bench-fpga's values, which replace those of the file."""
    note = figures / f"{cells['metric']}.json" if figures else None
    measured = note is not None and note.is_file()
    cycles = float(json.loads(note.read_text(encoding="utf-8"))) if note and measured else float(cells["cycles"])
    return Task(cells["task"], int(cells["bytes"]), cells["metric"], int(cells["unit"]), cycles, _published(cells))


def read_tasks(file: Path, figures: Path | None = None) -> list[Task]:
    """Reads tools/break-even.tsv. Raises BreakEvenError with the number of a wrong line."""
    rows = [(n, line.split("\t")) for n, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)]
    rows = [(number, cells) for number, cells in rows if not cells[0].startswith("#")]
    if not rows or tuple(rows[0][1]) != _COLUMNS:
        raise BreakEvenError(f"{file.name}: expected the header {' '.join(_COLUMNS)}")
    tasks = []
    for number, cells in rows[1:]:
        try:
            tasks.append(_task(dict(zip(_COLUMNS, cells, strict=True)), figures))
        except ValueError as error:
            raise BreakEvenError(f"{file.name}:{number}: {error}") from error
    return tasks


def cases(tasks: list[Task], software: Mapping[tuple[str, int], float], machine: Machine, region: int) -> list[Case]:
    """
    Returns a case for each task and measured size. `software`: instructions by task and bytes. Raises
    BreakEvenError for a task whose frame was not measured.
    """
    found = []
    for task in tasks:
        sizes = sorted(size for name, size in software if name == task.name)
        if task.size not in sizes:
            raise BreakEvenError(f"{task.name}: no software time of a frame of {task.size} bytes")
        for size in sizes:
            soft = machine.software_us(software[task.name, size])
            hard = machine.hardware_us(task.cycles * size / task.unit)
            found.append(Case(task.name, size, soft, hard, machine.reconfiguration_us(region)))
    return found
