# SPDX-License-Identifier: Apache-2.0
"""The overview picture: each metric relative to its goal, with the figures of other hypervisors, on
a log scale."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tessera.bench.metrics import Metric

_LABELS = {"bao": "Bao", "kvm": "KVM", "m5150": "M5150 paper"}
_COLOURS = {"Tessera": "#1b6ca8", "bao": "#d98032", "kvm": "#7a7a7a", "hellfire": "#6a9a3a", "m5150": "#8a5ab0"}


def of_first(records: list[dict[str, Any]]) -> Callable[[dict[str, Any]], bool]:
    """Returns a predicate for records of the first emulator."""
    version = records[0]["config"].get("qemu") if records else None
    return lambda line: line["config"].get("qemu") == version


def _points(metrics: dict[str, Metric], records: list[dict[str, Any]], version: str) -> list[tuple[str, str, float]]:
    """Returns (metric, hypervisor, figure relative to the goal) for metrics with a goal above
    zero."""
    found = []
    for line in records:
        metric = metrics.get(line["metric"])
        ours = line["config"]["system"] != "native" and line["config"]["qemu"] == version
        if metric is None or not metric.goal or not ours:
            continue
        found.append((metric.name, "Tessera", line["value"] / metric.goal))
        found += [(metric.name, peer, figure / metric.goal) for peer, figure in metric.peers.items()]
    return found


def _draw(axes: Any, points: list[tuple[str, str, float]], names: list[str]) -> None:
    """Draws the points, one row per name, and the line of the goal."""
    for who, colour in _COLOURS.items():
        mine = [(names.index(name), value) for name, owner, value in points if owner == who]
        if mine:
            rows, values = zip(*mine, strict=True)
            marker = "D" if who == "Tessera" else "o"
            axes.scatter(values, rows, c=colour, marker=marker, label=_LABELS.get(who, who), zorder=3)
    axes.axvline(1, color="black", linewidth=1)
    axes.text(1, 1.01, "goal", transform=axes.get_xaxis_transform(), ha="center", va="bottom", fontsize=8)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.grid(axis="x", which="both", alpha=0.25)


def plot(metrics: dict[str, Metric], records: list[dict[str, Any]], folder: Path) -> list[Path]:
    """Writes overview.png and overview.svg into `folder`; returns their paths, none without
    figures."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "tessera"  # equal figures produce equal files
    from matplotlib import pyplot

    version = records[0]["config"]["qemu"] if records else ""
    points = _points(metrics, records, version)
    if not points:
        return []
    names = list(dict.fromkeys(name for name, _, _ in points))
    figure, axes = pyplot.subplots(figsize=(9, max(2.6, 0.45 * len(names) + 1.8)), layout="constrained")
    _draw(axes, points, names)
    axes.set_xlabel(f"figure relative to the goal (less is better), QEMU {version}")
    figure.legend(loc="outside lower center", ncols=len(_COLOURS), frameon=False)
    paths = [folder / "overview.png", folder / "overview.svg"]
    for path in paths:
        figure.savefig(path, dpi=120, metadata={"Date": None} if path.suffix == ".svg" else None)
    pyplot.close(figure)
    return paths
