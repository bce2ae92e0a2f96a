# SPDX-License-Identifier: Apache-2.0
"""Table II of the M5150 paper with our numbers beside the paper's: sending, receiving, delivering 20 to 100 bytes."""

import re
from pathlib import Path
from typing import Any

from tessera.bench_metrics import Metric

OURS, PAPER = "#1b6ca8", "#d98032"
_NAME = re.compile(r"riscv\.ipc\.(send|recv|delivery)\.(\d+)")
_TITLES = {"send": "send", "recv": "receive", "delivery": "delivery, sender's call to receiver's task"}


def _lines(records: list[dict[str, Any]]) -> dict[str, list[tuple[int, dict[str, Any]]]]:
    """(bytes, record) of each operation, for the first emulator."""
    version = records[0]["config"]["qemu"] if records else ""
    found: dict[str, list[tuple[int, dict[str, Any]]]] = {}
    for line in records:
        match = _NAME.fullmatch(line["metric"])
        if match and line["config"]["qemu"] == version:
            found.setdefault(match[1], []).append((int(match[2]), line))
    return {what: sorted(lines, key=lambda entry: entry[0]) for what, lines in found.items()}


def _draw(axes: Any, what: str, lines: list[tuple[int, dict[str, Any]]], metrics: dict[str, Metric]) -> None:
    sizes = [size for size, _ in lines]
    axes.plot(sizes, [line["value"] for _, line in lines], color=OURS, marker="o", label="Tessera")
    papers = [metrics[line["metric"]].peers["m5150"] for _, line in lines]
    axes.plot(sizes, papers, color=PAPER, marker="s", label="M5150 paper")
    axes.set_ylim(bottom=0)
    axes.set_xticks(sizes)
    axes.set_xlabel("bytes")
    axes.set_title(_TITLES[what], fontsize=9)
    axes.grid(alpha=0.25)


def plot_ipc(metrics: dict[str, Metric], records: list[dict[str, Any]], folder: Path) -> list[Path]:
    """Writes ipc.png into `folder`; nothing if messages were not measured."""
    lines = _lines(records)
    if set(lines) != set(_TITLES):
        return []
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, 3, figsize=(11, 3.2), layout="constrained")
    for axes, what in zip(panels, _TITLES, strict=True):
        _draw(axes, what, lines[what], metrics)
    panels[0].set_ylabel("instructions")
    panels[0].legend(frameon=False, fontsize=8)
    path = folder / "ipc.png"
    figure.savefig(path, dpi=130)
    pyplot.close(figure)
    return [path]
