# SPDX-License-Identifier: Apache-2.0
"""
Checks regions.toml: `regions.py [FILE]` prints each region's resources, and what is wrong.

A pblock has whole clock regions and all columns inside of its rectangle, overlaps no other, and has enough for each of
its tasks. The columns of the device are those of its configuration memory (frames of a column: 36 for two columns of
slices, 28 for block RAM or DSP). Which sites a pblock really has is checked again by Vivado (dfx.tcl).
"""

import re
import sys
import tomllib
from dataclasses import dataclass
from math import ceil
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools"))

from tessera.fabric import synthesis

HERE = Path(__file__).resolve().parent
FILE = HERE / "regions.toml"

ROWS = 350
CLOCK_REGION_ROWS = 50
# The half of the device without gaps; its right end is a column of clocks, as is that between 35 and 36.
LAST_COLUMN = 79
CLOCKS_AFTER = (35, 79)
# Columns come in pairs: one of block RAM and one of DSP, each after one of these two columns of slices.
PAIRS_AFTER = ((7, 11), (19, 23), (49, 53))
# For 50 rows of slices.
SITES_OF = {"RAMB36": 10, "DSP48": 20}
LUTS, REGISTERS = 4, 8  # of a slice
NEEDS = ("luts", "registers", "bram36", "dsp")  # of a task
FRAME_WORDS = 101
_FRAMES = {"slices": 18, "pair": 2 * 28, "content": 128}  # of a column, in each clock region

_RANGE = re.compile(r"([A-Z]+[0-9]*)_X(\d+)Y(\d+):\1_X(\d+)Y(\d+)")
_KINDS = {"slices": "SLICE", "bram36": "RAMB36", "dsp": "DSP48"}


class RegionError(ValueError):
    """Something in regions.toml that cannot be; the text names what and where."""


@dataclass(frozen=True)
class Rectangle:
    """Sites of one type, with both ends."""

    kind: str
    left: int
    bottom: int
    right: int
    top: int

    @property
    def sites(self) -> int:
        return (self.right - self.left + 1) * (self.top - self.bottom + 1)

    def overlaps(self, other: "Rectangle") -> bool:
        apart = self.right < other.left or other.right < self.left or self.top < other.bottom or other.top < self.bottom
        return self.kind == other.kind and not apart

    def __str__(self) -> str:
        return f"{self.kind}_X{self.left}Y{self.bottom}:{self.kind}_X{self.right}Y{self.top}"


@dataclass(frozen=True)
class Task:
    """A HW task and what it takes."""

    name: str
    number: int
    needs: dict[str, int]


@dataclass(frozen=True)
class Region:
    """A region: its sites, and the tasks that it can hold."""

    number: int
    slices: Rectangle
    bram36: Rectangle
    dsp: Rectangle
    tasks: tuple[str, ...]

    @property
    def resources(self) -> dict[str, int]:
        return {
            "luts": self.slices.sites * LUTS,
            "registers": self.slices.sites * REGISTERS,
            "bram36": self.bram36.sites,
            "dsp": self.dsp.sites,
        }

    @property
    def ranges(self) -> list[str]:
        """For resize_pblock. Block RAMs have a second name, as pairs of halves."""
        ram = self.bram36
        halves = Rectangle("RAMB18", ram.left, 2 * ram.bottom, ram.right, 2 * ram.top + 1)
        return [str(place) for place in (self.slices, ram, halves, self.dsp)]

    @property
    def frames(self) -> int:
        """Frames of a bitstream of this region, without those that only pad it."""
        rows = (self.slices.top - self.slices.bottom + 1) // CLOCK_REGION_ROWS
        columns = self.slices.right - self.slices.left + 1
        pairs = self.bram36.right - self.bram36.left + 1
        return rows * (columns * _FRAMES["slices"] + pairs * (_FRAMES["pair"] + _FRAMES["content"]))


@dataclass(frozen=True)
class Plan:
    """The whole file."""

    part: str
    fill: float
    port: dict[str, int]
    tasks: dict[str, Task]
    regions: tuple[Region, ...]

    def configurations(self) -> list[tuple[str, ...]]:
        """
        Implementations of the whole design which together have every task in every region that can hold it: a task for
        each region. The largest tasks are in the first one, which places and routes the static design.
        """
        orders = [sorted(region.tasks, key=lambda name: -self.tasks[name].needs["luts"]) for region in self.regions]
        return [tuple(order[i % len(order)] for order in orders) for i in range(max(map(len, orders)))]


def _rectangle(where: str, text: str, kind: str) -> Rectangle:
    found = _RANGE.fullmatch(text)
    if not found or found[1] != kind:
        raise RegionError(f"{where}: expected {kind}_XaYb:{kind}_XcYd, got {text!r}")
    left, bottom, right, top = map(int, found.groups()[1:])
    if left > right or bottom > top:
        raise RegionError(f"{where}: {text} ends before it begins")
    return Rectangle(kind, left, bottom, right, top)


def _region(number: int, entry: dict) -> Region:
    places = {}
    for key, kind in _KINDS.items():
        if key not in entry:
            raise RegionError(f"region {number}: has no {key!r}")
        places[key] = _rectangle(f"region {number}, {key}", entry[key], kind)
    return Region(number, tasks=tuple(entry.get("tasks", ())), **places)


def _needs(block: str, names: tuple[str, ...]) -> dict[str, int]:
    """What a block takes by its synthesis."""
    found = synthesis.read().get(block)
    if not found:
        raise RegionError(f"{synthesis.RESULTS.name}: has no {block}: `make fpga-synth ONLY={block}`")
    return {name: ceil(found[name]) for name in names}


def load(path: Path = FILE) -> Plan:
    """Reads the file. Raises RegionError if a part is missing or malformed; check() finds what does not fit."""
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    for key in ("device", "tasks", "region"):
        if key not in data:
            raise RegionError(f"{path.name}: has no {key!r}")
    tasks = {name: Task(name, number, _needs(f"hwtask_{name}", NEEDS)) for name, number in data["tasks"].items()}
    regions = tuple(_region(number, entry) for number, entry in enumerate(data["region"]))
    return Plan(data["device"]["part"], data["device"]["fill"], _needs("region_port", NEEDS[:2]), tasks, regions)


def _check_rows(region: Region) -> list[str]:
    area = region.slices
    found = []
    if area.top >= ROWS or area.right > LAST_COLUMN:
        found.append(f"{area} is outside of SLICE_X0Y0:SLICE_X{LAST_COLUMN}Y{ROWS - 1}")
    if area.bottom % CLOCK_REGION_ROWS or (area.top + 1) % CLOCK_REGION_ROWS:
        found.append(f"{area} has no whole clock regions, which are {CLOCK_REGION_ROWS} rows high")
    for column in CLOCKS_AFTER:
        if area.left <= column < area.right:
            found.append(f"{area} contains the column of clocks after SLICE_X{column}")
    return found


def _columns(area: Rectangle) -> tuple[list[int], list[str]]:
    """The pairs of columns inside of the slices, and errors for those of which one is outside."""
    pairs, errors = [], []
    for index, (first, second) in enumerate(PAIRS_AFTER):
        inside = [area.left <= column < area.right for column in (first, second)]
        if all(inside):
            pairs.append(index)
        elif any(inside):
            errors.append(f"{area} ends between RAMB36_X{index} and DSP48_X{index}, after SLICE_X{first} and X{second}")
    return pairs, errors


def _check_columns(region: Region) -> list[str]:
    area = region.slices
    pairs, errors = _columns(area)
    for place in (region.bram36, region.dsp):
        each = SITES_OF[place.kind]
        bottom = area.bottom * each // CLOCK_REGION_ROWS
        top = (area.top + 1) * each // CLOCK_REGION_ROWS - 1
        if not errors and pairs and str(place) != str(Rectangle(place.kind, pairs[0], bottom, pairs[-1], top)):
            expected = Rectangle(place.kind, pairs[0], bottom, pairs[-1], top)
            errors.append(f"expected {expected}, all columns inside of {area}, got {place}")
        if not errors and not pairs:
            errors.append(f"{place} is not inside of {area}, which has no such column")
    return errors


def _check_tasks(plan: Plan, region: Region) -> list[str]:
    found = [] if region.tasks else ["has no tasks"]
    for name in region.tasks:
        if name not in plan.tasks:
            found.append(f"task {name!r} is not in [tasks], which has {', '.join(plan.tasks)}")
            continue
        for what, available in region.resources.items():
            usable = int(available * (plan.fill if what in plan.port else 1))
            needed = plan.tasks[name].needs[what] + plan.port.get(what, 0)
            if needed > usable:
                found.append(f"{name} needs {needed} {what}, the region has {available}, of which {usable} may be used")
    return found


def check(plan: Plan) -> list[str]:
    """Returns what does not fit, each with the region's number."""
    found = []
    for region in plan.regions:
        errors = _check_rows(region) + _check_columns(region) + _check_tasks(plan, region)
        found += [f"region {region.number}: {error}" for error in errors]
        for other in plan.regions[: region.number]:
            if region.slices.overlaps(other.slices):
                found.append(f"region {region.number}: {region.slices} overlaps region {other.number}, {other.slices}")
    held = {name for region in plan.regions for name in region.tasks}
    found += [f"task {name}: no region can hold it" for name in plan.tasks if name not in held]
    return found


def main() -> int:
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else FILE
    try:
        plan = load(path)
        errors = check(plan)
    except RegionError as error:
        print(f"{path}: {error}", file=sys.stderr)
        return 1
    for error in errors:
        print(f"{path}: {error}", file=sys.stderr)
    for region in plan.regions:
        kilobytes = region.frames * FRAME_WORDS * 4 // 1000
        sites = ", ".join(f"{number} {what}" for what, number in region.resources.items())
        size = f"{region.frames} frames, {kilobytes} KB a bitstream"
        print(f"region {region.number}: {sites}; {size}: {' '.join(region.tasks)}")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
