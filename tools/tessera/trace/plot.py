# SPDX-License-Identifier: Apache-2.0
"""A timeline as a picture: harts, and below them RT apps with their releases and deadlines, else
VCPUs."""

from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from tessera.colours import shades
from tessera.trace.fabric import Regions, Span
from tessera.trace.model import Hart, Job, Timeline, VcpuId
from tessera.trace.names import Names
from tessera.trace.ring import TraceError

_MISSED = "#d00000"
_DEADLINE = "#505050"
_BAR = 0.5  # of a row's height
_MARK = 0.38  # distance of releases and deadlines from the row's middle
_MARK_SIZE = 5.5
_WIDTH_IN, _HART_IN, _ROW_IN, _MARGIN_IN = 9.5, 0.45, 0.58, 1.75
_LEAST = 1 / 1500  # of the picture's width: shorter bars would not be visible
_LEGEND_COLUMNS = 6
# The states of a region, in the order of the legend; idle is left out.
_STATE_COLOURS = {
    "busy": "#44546a", "hold": "#d9c27a", "reconfig": "#8a6fb3", "preempt": "#d95f43", "switch": "#e8a08f",
}  # fmt: skip

_NO_REGIONS: Regions = {}


class _Picture:
    """Draws into matplotlib's axes, with times in milliseconds from `start`."""

    def __init__(self, axes: Any, start: int, end: int, colours: dict[VcpuId, str]) -> None:
        self.axes, self.start, self.end, self.colours = axes, start, end, colours

    def x(self, at: int) -> float:
        return (at - self.start) / 1e6

    def inside(self, at: int) -> bool:
        return self.start <= at <= self.end

    def bars(self, row: int, spans: list[tuple[int, int]], colour: str) -> None:
        least = self.x(self.end) * _LEAST
        cut = [
            (self.x(max(a, self.start)), self.x(min(b, self.end))) for a, b in spans if b > self.start and a < self.end
        ]
        pieces = [(left, max(right - left, least)) for left, right in cut]
        self.axes.broken_barh(pieces, (row - _BAR / 2, _BAR), facecolors=colour, linewidth=0)

    def mark(self, y: float, at: int, marker: str, colour: str, size: float = _MARK_SIZE) -> None:
        if self.inside(at):
            # Marks at the picture's edges are drawn whole.
            self.axes.plot(self.x(at), y, marker, color=colour, markersize=size, clip_on=False, zorder=4)

    def job(self, row: int, job: Job) -> None:
        """Draws the release below the row, the deadline above it."""
        self.mark(row + _MARK, job.release, "^", "black")
        if self.inside(job.deadline):
            colour = _MISSED if job.missed else _DEADLINE
            self.axes.vlines(self.x(job.deadline), row - _MARK, row + _BAR / 2, colour, linewidth=0.8, zorder=3)
        if job.missed:
            self.mark(row - _MARK, job.deadline, "X", _MISSED, _MARK_SIZE + 3)
        else:
            self.mark(row - _MARK, job.deadline, "v", _DEADLINE)
        for at in job.overruns:
            self.mark(row, at, "|", _MISSED, 14)


def vcpu_colours(line: Timeline, names: Names) -> dict[VcpuId, str]:
    """Returns the colours of all VCPUs: that of their VM; of several VCPUs of a kind (RT apps, or
    others) shades of it."""
    colours: dict[VcpuId, str] = {}
    for vm in sorted({vm for vm, _ in line.vcpus()}):
        own = [vcpu_id for vcpu_id in line.vcpus() if vcpu_id[0] == vm]
        for kind in (False, True):
            alike = [vcpu_id for vcpu_id in own if names.is_app(vcpu_id) is kind]
            colours |= dict(zip(alike, shades(names.colour(vm), len(alike)), strict=True))
    return colours


def _times(jobs: list[Job]) -> str:
    """Returns period and deadline of an app, from the deadlines of its jobs."""
    words = []
    if len(jobs) > 1:
        period = median(after.deadline - before.deadline for before, after in pairwise(jobs))
        words.append(f"every {period / 1e6:g} ms")
    # A release is recorded after its time, by the hypervisor's delay: the longest time is the deadline.
    if jobs:
        words.append(f"deadline {round(max(job.deadline - job.release for job in jobs) / 1e6, 2):g} ms")
    return ", ".join(words)


def row_label(line: Timeline, names: Names, vcpu_id: VcpuId) -> str:
    """Returns the name of a VCPU; of an RT app, with its period and deadline below."""
    jobs = line.jobs.get(vcpu_id, [])
    return names.of(vcpu_id) + (f"\n{_times(jobs)}" if jobs else "")


def _draw_hart(picture: _Picture, line: Timeline, row: int, hart: Hart) -> None:
    for vcpu_id, colour in picture.colours.items():
        spans = [(t.start, line.end if t.end is None else t.end) for t in hart.slices if t.vcpu_id == vcpu_id]
        picture.bars(row, spans, colour)


def _draw(picture: _Picture, line: Timeline, names: Names, rows: list[VcpuId]) -> list[str]:
    """Draws all rows and returns their names."""
    for row, hart in enumerate(line.harts):
        _draw_hart(picture, line, row, hart)
    for row, vcpu_id in enumerate(rows, len(line.harts)):
        picture.axes.axhline(row + _BAR / 2, color="#c0c0c0", linewidth=0.6, zorder=0)
        picture.bars(row, [(start, end) for start, end, _ in line.runs(vcpu_id)], picture.colours[vcpu_id])
        for job in line.jobs.get(vcpu_id, []):
            picture.job(row, job)
    return [f"hart {hart.number} runs" for hart in line.harts] + [row_label(line, names, vcpu_id) for vcpu_id in rows]


def _draw_regions(picture: _Picture, regions: Regions, end: int, row: int) -> list[str]:
    """Draws a row for each region from this row on, and returns their names."""
    for at, spans in enumerate(regions.values(), row):
        picture.axes.axhline(at + _BAR / 2, color="#c0c0c0", linewidth=0.6, zorder=0)
        for state, colour in _STATE_COLOURS.items():
            alike = [(span.start, end if span.end is None else span.end) for span in spans if span.state == state]
            picture.bars(at, alike, colour)
    return [f"region {number} of the fabric" for number in regions]


def _region_legend(regions: Regions, start: int, end: int) -> list[tuple[Any, str]]:
    """Returns the entries of the states in the picture."""
    from matplotlib.patches import Patch

    def inside(span: Span) -> bool:
        return span.start < end and (span.end is None or span.end > start)

    seen = {span.state for spans in regions.values() for span in spans if inside(span)}
    return [(Patch(color=colour), f"region: {state}") for state, colour in _STATE_COLOURS.items() if state in seen]


def _shown(line: Timeline, vcpu_id: VcpuId | None, start: int, end: int) -> bool:
    """Returns whether a VCPU runs, or with None whether a hart is idle, long enough to be visible."""
    runs = sum(max(0, min(b, end) - max(a, start)) for a, b, _ in line.runs(vcpu_id))
    return runs >= (end - start) * _LEAST


def _legend(line: Timeline, names: Names, colours: dict[VcpuId, str], start: int, end: int) -> list[tuple[Any, str]]:
    """Returns the legend's entries: the VCPUs in the picture, and the marks of jobs."""
    from matplotlib.patches import Patch

    entries: list[tuple[Any, str]] = [
        (Patch(color=colour), names.of(vcpu_id))
        for vcpu_id, colour in colours.items()
        if _shown(line, vcpu_id, start, end)
    ]
    if _shown(line, None, start, end):
        entries.append((Patch(facecolor="white", edgecolor="#c0c0c0"), names.of(None)))
    return entries + _job_legend(line, start, end)


def _job_legend(line: Timeline, start: int, end: int) -> list[tuple[Any, str]]:
    from matplotlib.lines import Line2D

    jobs = [job for own in line.jobs.values() for job in own]
    missed = any(job.missed and start <= job.deadline <= end for job in jobs)
    overrun = any(start <= at <= end for job in jobs for at in job.overruns)
    marks = (
        ("^", "black", "release: a job may start", bool(jobs)),
        ("v", _DEADLINE, "deadline of the job", bool(jobs)),
        ("X", _MISSED, "deadline missed", missed),
        ("|", _MISSED, "budget used up", overrun),
    )
    shown = [mark[:3] for mark in marks if mark[3]]
    return [(Line2D([], [], marker=marker, color=colour, linestyle=""), words) for marker, colour, words in shown]


def _place_legend(figure: Any, entries: list[tuple[Any, str]]) -> None:
    """Puts the legend below the rows, in as many columns as the figure is wide."""
    handles, words = [handle for handle, _ in entries], [text for _, text in entries]
    for columns in range(min(len(words), _LEGEND_COLUMNS), 0, -1):
        legend = figure.legend(handles, words, loc="outside lower center", ncols=columns, frameon=False, fontsize=9)
        if columns == 1 or legend.get_window_extent(figure.canvas.get_renderer()).width <= figure.bbox.width:
            return
        legend.remove()


def _title(line: Timeline, names: Names) -> str:
    if not line.jobs:
        return f"System '{names.system}': the VM that runs on each hart (physical CPU)"
    return f"System '{names.system}': what runs on each hart (physical CPU), and the jobs of the real-time apps"


def plot(line: Timeline, names: Names, start: int, end: int, paths: list[Path], regions: Regions = _NO_REGIONS) -> None:
    """Draws the time from `start` to `end` (nanoseconds) into the files, in the formats of their
    suffixes; below the harts and apps, the regions of the fabric."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "tessera"  # the same trace makes the same file
    from matplotlib import pyplot

    if end <= start:
        raise TraceError("the picture would show no time")
    rows = [vcpu_id for vcpu_id in line.vcpus() if vcpu_id in line.jobs] or line.vcpus()
    height = _HART_IN * len(line.harts) + _ROW_IN * len(rows) + _HART_IN * len(regions) + _MARGIN_IN
    figure, axes = pyplot.subplots(figsize=(_WIDTH_IN, height), layout="constrained")
    colours = vcpu_colours(line, names)
    picture = _Picture(axes, start, end, colours)
    labels = _draw(picture, line, names, rows)
    labels += _draw_regions(picture, regions, line.end, len(labels))
    axes.set_xlim(0, (end - start) / 1e6)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.set_yticks(range(len(labels)), labels, fontsize=9)
    axes.axhline(len(line.harts) - 0.5, color="black", linewidth=0.8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel(f"time in ms; 0 is {start / 1e6:.3f} ms after power-on")
    axes.set_title(_title(line, names), fontsize=10, loc="left")
    entries = _legend(line, names, colours, start, end) + _region_legend(regions, start, end)
    _place_legend(figure, entries)
    for path in paths:
        figure.savefig(path, dpi=120, metadata={"Date": None} if path.suffix == ".svg" else None)
    pyplot.close(figure)
