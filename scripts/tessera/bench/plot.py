# SPDX-License-Identifier: Apache-2.0
"""The overview pictures: the costs of Tessera with the figures of other hypervisors, and the other
costs with their goals; a panel for each unit."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import floor, log10
from pathlib import Path
from typing import Any

from tessera.bench.labels import OURS, PEER_COLOURS, PEER_MARKERS, PEERS, UNITS, metric_label
from tessera.bench.metrics import Metric

_LINEAR = 12  # largest ratio of the values in a panel with a linear axis
_SPREAD = 0.3  # of a row's height
_ROW_IN, _PANEL_IN, _MARGIN_IN, _WIDTH_IN = 0.27, 0.62, 1.5, 11.0


def emulator(line: dict[str, Any]) -> str | None:
    """Returns the version of QEMU of a record, None for those of iasim."""
    return line["config"].get("qemu")


def of_first(records: list[dict[str, Any]]) -> Callable[[dict[str, Any]], bool]:
    """Returns a predicate for records of the first emulator."""
    version = emulator(records[0]) if records else None
    return lambda line: emulator(line) == version


@dataclass(frozen=True)
class Row:
    """A metric in a picture; figures in its unit."""

    label: str
    unit: str
    ours: float
    goal: float | None
    peers: dict[str, float]

    def values(self) -> list[float]:
        return [self.ours, *self.peers.values(), *([] if self.goal is None else [self.goal])]


def overview_rows(metrics: dict[str, Metric], records: list[dict[str, Any]]) -> list[Row]:
    """Returns the measured metrics that have words, a goal or peers, in the order of the metrics."""
    wanted = of_first(records)
    values = {
        line["metric"]: line["value"] for line in records if wanted(line) and line["config"]["system"] != "native"
    }
    found = []
    for metric in metrics.values():
        label = metric_label(metric.name)
        if label is None or metric.name not in values or not (metric.peers or metric.goal is not None):
            continue
        found.append(Row(label, metric.unit, values[metric.name], metric.goal, metric.peers))
    return found


def set_scale(axes: Any, values: Sequence[float], from_zero: bool = True) -> None:
    """
    Chooses the scale of the x axis: linear for similar values, and from zero on if wanted; otherwise
    logarithmic. With a zero among the values a logarithmic axis is linear near zero, and zero has a
    tick.
    """
    least = min((value for value in values if value > 0), default=1.0)
    most = max([*values, least])
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    if most / least <= _LINEAR:
        axes.margins(x=0.08)
        if from_zero:
            axes.set_xlim(-0.02 * most, 1.08 * most)
        return
    if min(values) > 0:
        axes.set_xscale("log")
    else:
        decade = floor(log10(least))
        axes.set_xscale("symlog", linthresh=10.0**decade)
        axes.set_xlim(-0.15 * 10.0**decade, most * 2)
        axes.set_xticks([0.0] + [10.0**power for power in range(decade, floor(log10(most * 2)) + 1)])
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")


def _spread(row: Row, peer: str) -> float:
    """Returns the vertical distance of a peer's mark from its row, so that equal figures do not
    cover each other."""
    value = row.peers[peer]
    equal = [name for name in row.peers if row.peers[name] == value]
    if len(equal) == 1 and value != row.ours:
        return 0.0
    place = equal.index(peer)  # first above the row, then below, then further above
    return (place // 2 + 1) * (_SPREAD if place % 2 else -_SPREAD)


def _draw_goals(axes: Any, rows: Sequence[Row]) -> None:
    for place, row in enumerate(rows):
        if row.goal is not None:
            axes.scatter(row.goal, place, c="black", marker="|", s=160, zorder=2)


def _draw_peers(axes: Any, rows: Sequence[Row]) -> None:
    for place, row in enumerate(rows):
        for peer, value in row.peers.items():
            colour = PEER_COLOURS[peer]
            face = "white" if PEERS[peer].published else colour
            axes.scatter(
                value, place + _spread(row, peer), marker=PEER_MARKERS[peer], s=42, zorder=3, facecolors=face,
                edgecolors=colour, linewidths=1.4,
            )  # fmt: skip


def _draw_ours(axes: Any, rows: Sequence[Row]) -> None:
    """Draws Tessera's marks, and its figures on the right."""
    axes.scatter([row.ours for row in rows], range(len(rows)), c=OURS, marker="D", s=42, zorder=4)
    for place, row in enumerate(rows):
        axes.text(
            1.01, place, f"{row.ours:.3g}" if row.ours < 1000 else f"{row.ours:,.0f}", color=OURS,
            transform=axes.get_yaxis_transform(), va="center", fontsize=9, fontweight="bold",
        )  # fmt: skip


def _draw_panel(axes: Any, rows: Sequence[Row]) -> None:
    """Draws the rows of one unit: Tessera, its goals, and the other hypervisors."""
    _draw_goals(axes, rows)
    _draw_peers(axes, rows)
    _draw_ours(axes, rows)
    set_scale(axes, [value for row in rows for value in row.values()], rows[0].unit != "ratio")
    axes.set_yticks(range(len(rows)), [row.label for row in rows], fontsize=9)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlabel(UNITS[rows[0].unit], fontsize=9)
    axes.tick_params(axis="x", labelsize=8)
    axes.grid(axis="x", alpha=0.3)
    axes.grid(axis="y", alpha=0.12)


def _legend(rows: Sequence[Row]) -> tuple[list[Any], list[str]]:
    """Returns handles and words of the hypervisors in the picture."""
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], marker="D", color=OURS, linestyle="")]
    words = ["Tessera (figure on the right)"]
    if any(row.goal is not None for row in rows):
        handles.append(Line2D([], [], marker="|", color="black", linestyle="", markersize=12))
        words.append("Tessera's goal (at most)")
    for name, peer in PEERS.items():
        if any(name in row.peers for row in rows):
            face = "white" if peer.published else PEER_COLOURS[name]
            colour, marker = PEER_COLOURS[name], PEER_MARKERS[name]
            handles.append(
                Line2D([], [], linestyle="", marker=marker, color=colour, markerfacecolor=face, markeredgewidth=1.4)
            )
            words.append(peer.label)
    return handles, words


def machine(records: list[dict[str, Any]]) -> str:
    """Returns the words for the machine that records were measured on."""
    version = emulator(records[0])
    return f"RISC-V in QEMU {version}" if version is not None else "MIPS M5150 in iasim"


def _draw(rows: Sequence[Row], title: str) -> Any:
    """Returns a figure with a panel for each unit."""
    from matplotlib import pyplot

    units = list(dict.fromkeys(row.unit for row in rows))
    panels = [[row for row in rows if row.unit == unit] for unit in units]
    heights = [_ROW_IN * len(panel) + _PANEL_IN for panel in panels]
    figure, axes = pyplot.subplots(
        len(panels), 1, squeeze=False, figsize=(_WIDTH_IN, sum(heights) + _MARGIN_IN), layout="constrained",
        gridspec_kw={"height_ratios": [len(panel) + 0.2 for panel in panels]},
    )  # fmt: skip
    for panel, own in zip(axes[:, 0], panels, strict=True):
        _draw_panel(panel, own)
    figure.suptitle(title, fontsize=11)
    handles, words = _legend(rows)
    figure.legend(handles, words, loc="outside lower center", ncols=2, frameon=False, fontsize=9, borderpad=0.8)
    return figure


def plot(metrics: dict[str, Metric], records: list[dict[str, Any]], folder: Path, begin: str = "") -> list[Path]:
    """Writes overview.png and overview.svg into `folder`: what other hypervisors have figures of;
    and goals.png and goals.svg: the rest. Returns the paths, of pictures with figures only."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "tessera"  # equal figures produce equal files
    from matplotlib import pyplot

    rows = overview_rows(metrics, records)
    pictures = (
        (
            "overview",
            "Costs of Tessera and of other hypervisors on one core; less is better",
            [row for row in rows if row.peers],
        ),
        ("goals", "Costs of Tessera and their goals; less is better", [row for row in rows if not row.peers]),
    )
    paths = []
    for name, title, own in pictures:
        if not own:
            continue
        figure = _draw(own, f"{title} ({machine(records)})")
        for suffix in (".png", ".svg"):
            paths.append(folder / f"{begin}{name}{suffix}")
            figure.savefig(paths[-1], dpi=120, metadata={"Date": None} if suffix == ".svg" else None)
        pyplot.close(figure)
    return paths
