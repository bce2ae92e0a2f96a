# SPDX-License-Identifier: Apache-2.0
"""A timeline as a picture: harts, and below them RT apps in the usual notation of real-time papers,
else VCPUs."""

from pathlib import Path
from typing import Any

from tessera.trace.model import Hart, Job, Timeline, VcpuId
from tessera.trace.names import Names
from tessera.trace.ring import TraceError

_COLOURS = ("#1b6ca8", "#d98032", "#6a9a3a", "#8b5fbf", "#c44e52", "#2a9d8f", "#b8a02e", "#5a4a3a")
_PALE = ("#c9ced6", "#a9b4c4", "#dcd5c5", "#b9c9b9", "#d9c4c4", "#c9bfd9")  # best-effort VCPUs, if there are RT apps
_MISSED = "#d00000"
_DEADLINE = "#707070"
_BAR = 0.56  # of a row's height
_ARROW = 0.42
_WIDTH_IN, _ROW_IN, _MARGIN_IN = 9.0, 0.42, 1.3
_LEAST = 1 / 1500  # of the picture's width: shorter bars would not be visible


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

    def arrow(self, row: int, at: int, up: bool, colour: str) -> None:
        if not self.inside(at):
            return
        foot, head = (row + _BAR / 2, row - _ARROW) if up else (row - _ARROW, row + _BAR / 2)
        self.axes.annotate(
            "",
            xy=(self.x(at), head),
            xytext=(self.x(at), foot),
            arrowprops={
                "arrowstyle": "-|>",
                "color": colour,
                "linewidth": 0.9,
                "mutation_scale": 8,
                "shrinkA": 0,
                "shrinkB": 0,
            },
        )

    def job(self, row: int, job: Job) -> None:
        self.arrow(row, job.release, True, "black")
        self.arrow(row, job.deadline, False, _MISSED if job.missed else _DEADLINE)
        if job.missed and self.inside(job.deadline):
            self.axes.plot(self.x(job.deadline), row - _ARROW, "x", color=_MISSED, markersize=6, markeredgewidth=1.5)
        for at in job.overruns:
            if self.inside(at):
                self.axes.plot(self.x(at), row + _BAR / 2, "|", color=_MISSED, markersize=8)


def _colours(line: Timeline, names: Names) -> dict[VcpuId, str]:
    """Assigns strong colours to the RT apps and pale ones to the other VCPUs; without RT apps,
    strong ones to all."""
    apps = [vcpu_id for vcpu_id in line.vcpus() if names.is_app(vcpu_id)]
    others = [vcpu_id for vcpu_id in line.vcpus() if not names.is_app(vcpu_id)]
    colours = {vcpu_id: _COLOURS[place % len(_COLOURS)] for place, vcpu_id in enumerate(apps)}
    rest = _PALE if apps else _COLOURS
    return colours | {vcpu_id: rest[place % len(rest)] for place, vcpu_id in enumerate(others)}


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
    return [f"hart {hart.number}" for hart in line.harts] + [names.of(vcpu_id) for vcpu_id in rows]


def plot(line: Timeline, names: Names, start: int, end: int, paths: list[Path]) -> None:
    """Draws the time from `start` to `end` (nanoseconds) into the files, in the formats of their
    suffixes."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "tessera"  # the same trace makes the same file
    from matplotlib import pyplot

    if end <= start:
        raise TraceError("the picture would show no time")
    rows = [vcpu_id for vcpu_id in line.vcpus() if vcpu_id in line.jobs] or line.vcpus()
    height = _ROW_IN * (len(line.harts) + len(rows)) + _MARGIN_IN
    figure, axes = pyplot.subplots(figsize=(_WIDTH_IN, height), layout="constrained")
    colours = _colours(line, names)
    labels = _draw(_Picture(axes, start, end, colours), line, names, rows)
    axes.set_xlim(0, (end - start) / 1e6)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.set_yticks(range(len(labels)), labels)
    axes.axhline(len(line.harts) - 0.5, color="black", linewidth=0.8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel(f"milliseconds from {start / 1e9:.6f} s after power-on")
    handles = [pyplot.Rectangle((0, 0), 1, 1, color=colour) for colour in colours.values()]
    title = f"{names.system}: VCPUs on the harts"
    if line.jobs:
        title += "; arrows up: releases, down: deadlines; red: missed, budget used up"
    axes.set_title(title, fontsize=10, loc="left")
    words = [names.of(vcpu_id) for vcpu_id in colours]
    figure.legend(handles, words, loc="outside lower center", ncols=min(len(words), 8), frameon=False, fontsize=8)
    for path in paths:
        figure.savefig(path, dpi=120, metadata={"Date": None} if path.suffix == ".svg" else None)
    pyplot.close(figure)
