# SPDX-License-Identifier: Apache-2.0
"""The overview pictures: the costs of Tessera with the figures of other hypervisors, and the other
costs with their goals; a panel for each unit."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import floor, isclose, log10
from pathlib import Path
from typing import Any

from tessera.bench.labels import OURS, OURS_PALE, PEER_COLOURS, PEER_MARKERS, PEERS, PEERS_QEMU, UNITS, metric_label
from tessera.bench.metrics import Metric

_LINEAR = 12  # largest ratio of the values in a panel with a linear axis
_SPREAD = 0.34  # of a row's height
_NEAR = 0.025  # of an axis: marks that are closer would cover each other
_ALIKE = 0.01  # relative difference of two emulators' figures that is not drawn
_ROW_IN, _PANEL_IN, _MARGIN_IN, _WIDTH_IN = 0.27, 0.62, 1.5, 11.0


def emulator(line: dict[str, Any]) -> str | None:
    """Returns the version of QEMU of a record, None for those of iasim."""
    return line["config"].get("qemu")


def emulators(records: list[dict[str, Any]]) -> list[str | None]:
    """Returns the emulators of the records, in their order."""
    return list(dict.fromkeys(map(emulator, records)))


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
    second: float | None = None  # in the second emulator, if it differs

    def values(self) -> list[float]:
        return [value for value in (self.ours, self.second, *self.peers.values(), self.goal) if value is not None]


def _in_vms(records: list[dict[str, Any]], version: str | None) -> dict[str, float]:
    """Returns the figures of an emulator, by metric."""
    return {
        line["metric"]: line["value"]
        for line in records
        if emulator(line) == version and line["config"]["system"] != "native"
    }


def overview_rows(metrics: dict[str, Metric], records: list[dict[str, Any]]) -> list[Row]:
    """Returns the measured metrics that have words, a goal or peers, in the order of the metrics."""
    values, second = (_in_vms(records, version) for version in (*emulators(records), None, None)[:2])
    found = []
    for metric in metrics.values():
        label = metric_label(metric.name)
        if label is None or metric.name not in values or not (metric.peers or metric.goal is not None):
            continue
        ours = values[metric.name]
        other = second.get(metric.name, ours)
        differs = not isclose(ours, other, rel_tol=_ALIKE)
        found.append(Row(label, metric.unit, ours, metric.goal, metric.peers, other if differs else None))
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


def _position(value: float, values: Sequence[float], from_zero: bool = True) -> float:
    """Returns about where set_scale() puts a value on the axis: 0 is the left end, 1 the right one."""
    least = min((one for one in values if one > 0), default=1.0)
    most = max([*values, least])
    if most / least <= _LINEAR:
        low = 0.0 if from_zero else min(values)
        return (value - low) / ((most - low) or 1.0)
    decades = log10(most / least) + (min(values) <= 0)
    return max(0.0, 1 + log10(value / most) / decades) if value > 0 else 0.0


def _spreads(row: Row, position: Callable[[float], float]) -> dict[str, float]:
    """Returns the vertical distances of the marks of the second emulator ("") and of the peers from
    their row, so that no mark covers another one."""
    marks = ({} if row.second is None else {"": row.second}) | row.peers
    taken = [(position(row.ours), 0.0)]
    found = {}
    for name, value in marks.items():
        at = position(value)
        near = {spread for other, spread in taken if abs(other - at) < _NEAR}
        # In the row, else above it, below it, further above, further below.
        found[name] = next(place * _SPREAD for place in (0, -1, 1, -2, 2, -3) if place * _SPREAD not in near)
        taken.append((at, found[name]))
    return found


def _draw_goals(axes: Any, rows: Sequence[Row]) -> None:
    for place, row in enumerate(rows):
        if row.goal is not None:
            axes.scatter(row.goal, place, c="black", marker="|", s=160, zorder=2)


def _draw_others(axes: Any, rows: Sequence[Row], position: Callable[[float], float]) -> None:
    """Draws the marks of the peers, and Tessera's in the second emulator."""
    for place, row in enumerate(rows):
        spreads = _spreads(row, position)
        if row.second is not None:
            axes.scatter(row.second, place + spreads[""], c=OURS_PALE, marker="D", s=42, zorder=3)
        for peer, value in row.peers.items():
            colour = PEER_COLOURS[peer]
            face = "white" if PEERS[peer].published else colour
            axes.scatter(
                value, place + spreads[peer], marker=PEER_MARKERS[peer], s=42, zorder=3, facecolors=face,
                edgecolors=colour, linewidths=1.4,
            )  # fmt: skip


def _draw_ours(axes: Any, rows: Sequence[Row]) -> None:
    """Draws Tessera's marks, and its figures on the right."""
    axes.scatter([row.ours for row in rows], range(len(rows)), c=OURS, marker="D", s=42, zorder=4)
    for place, row in enumerate(rows):
        axes.text(
            1.01, place, f"{row.ours:.4g}" if row.ours < 1000 else f"{row.ours:,.0f}", color=OURS,
            transform=axes.get_yaxis_transform(), va="center", fontsize=9, fontweight="bold",
        )  # fmt: skip


def _draw_panel(axes: Any, rows: Sequence[Row]) -> None:
    """Draws the rows of one unit: Tessera, its goals, and the other hypervisors."""
    values = [value for row in rows for value in row.values()]
    from_zero = rows[0].unit != "ratio"
    _draw_goals(axes, rows)
    _draw_others(axes, rows, lambda value: _position(value, values, from_zero))
    _draw_ours(axes, rows)
    set_scale(axes, values, from_zero)
    axes.set_yticks(range(len(rows)), [row.label for row in rows], fontsize=9)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlabel(UNITS[rows[0].unit], fontsize=9)
    axes.tick_params(axis="x", labelsize=8)
    axes.grid(axis="x", alpha=0.3)
    axes.grid(axis="y", alpha=0.12)


def _peer_handle(name: str) -> Any:
    from matplotlib.lines import Line2D

    colour, marker = PEER_COLOURS[name], PEER_MARKERS[name]
    face = "white" if PEERS[name].published else colour
    return Line2D([], [], linestyle="", marker=marker, color=colour, markerfacecolor=face, markeredgewidth=1.4)


def _own_legend(rows: Sequence[Row], versions: Sequence[str]) -> list[tuple[Any, str]]:
    from matplotlib.lines import Line2D

    where = f" in QEMU {versions[0]}" if versions else ""
    found = [(Line2D([], [], marker="D", color=OURS, linestyle=""), f"Tessera{where} (figure on the right)")]
    if any(row.second is not None for row in rows):
        handle = Line2D([], [], marker="D", color=OURS_PALE, linestyle="")
        found.append((handle, f"Tessera in QEMU {versions[1]}, where the figure differs"))
    if any(row.goal is not None for row in rows):
        handle = Line2D([], [], marker="|", color="black", linestyle="", markersize=12)
        found.append((handle, "Tessera's goal (at most; of a share: at least)"))
    return found


def _legend(rows: Sequence[Row], versions: Sequence[str]) -> list[tuple[Any, str]]:
    """Returns handles and words of the hypervisors in the picture. `versions`: of QEMU."""
    peers = [name for name in PEERS if any(name in row.peers for row in rows)]
    measured = PEERS_QEMU if versions else ""
    return _own_legend(rows, versions) + [(_peer_handle(name), PEERS[name].words(measured)) for name in peers]


def machine(records: list[dict[str, Any]]) -> str:
    """Returns the words for the machine that records were measured on."""
    version = emulator(records[0])
    return f"RISC-V in QEMU {version}" if version is not None else "MIPS M5150 in iasim"


def _draw(rows: Sequence[Row], title: str, versions: Sequence[str]) -> Any:
    """Returns a figure with a panel for each unit. `versions`: of QEMU."""
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
    handles, words = zip(*_legend(rows, versions), strict=True)
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
    versions = list(filter(None, emulators(records)))
    paths = []
    for name, title, own in (picture for picture in pictures if picture[2]):
        figure = _draw(own, f"{title} ({' and '.join([machine(records), *versions[1:]])})", versions)
        for suffix in (".png", ".svg"):
            paths.append(folder / f"{begin}{name}{suffix}")
            figure.savefig(paths[-1], dpi=120, metadata={"Date": None} if suffix == ".svg" else None)
        pyplot.close(figure)
    return paths
