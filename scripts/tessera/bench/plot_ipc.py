# SPDX-License-Identifier: Apache-2.0
"""Table II of the M5150 paper as a picture, with the paper's and our figures: send, receive,
deliver 20 to 100 bytes."""

import re
from pathlib import Path
from typing import Any

from tessera.bench.metrics import Metric
from tessera.bench.plot import of_first

OURS, SHARED, PAPER, SUCCESSOR = "#1b6ca8", "#9dc3e0", "#d98032", "#7a9a4b"
_NAME = re.compile(r"(?:riscv|mips)\.ipc\.(send|recv|delivery)\.(\d+)(\.shared)?")
_TITLES = {"send": "send", "recv": "receive", "delivery": "delivery, sender's call to receiver's task"}


def _lines(records: list[dict[str, Any]], shared: bool = False) -> dict[str, dict[int, dict[str, Any]]]:
    """Returns records of each operation by bytes, for the first emulator. `shared`: the records
    with one shadow set for all VCPUs, on the M5150 only."""
    emulator = of_first(records)
    found: dict[str, dict[int, dict[str, Any]]] = {}
    for line in records:
        match = _NAME.fullmatch(line["metric"])
        if match and emulator(line) and bool(match[3]) == shared:
            found.setdefault(match[1], {})[int(match[2])] = line
    return {what: dict(sorted(lines.items())) for what, lines in found.items()}


def _peer(lines: dict[int, dict[str, Any]], metrics: dict[str, Metric], name: str) -> dict[int, float]:
    peers = {size: metrics[line["metric"]].peers.get(name) for size, line in lines.items()}
    return {size: value for size, value in peers.items() if value is not None}


def _draw(axes: Any, what: str, records: list[dict[str, Any]], metrics: dict[str, Metric]) -> None:
    ours, shared = _lines(records)[what], _lines(records, shared=True).get(what, {})
    series = [
        ("Tessera", OURS, "o", {size: line["value"] for size, line in ours.items()}),
        ("without shadow sets", SHARED, "v", {size: line["value"] for size, line in shared.items()}),
        ("M5150 paper", PAPER, "s", _peer(ours, metrics, "m5150")),
        ("its successor", SUCCESSOR, "D", _peer(ours, metrics, "hellfire")),
    ]
    for name, colour, marker, values in series:
        if values:
            axes.plot(list(values), list(values.values()), color=colour, marker=marker, label=name)
    axes.set_ylim(bottom=0)
    axes.set_xticks(list(ours))
    axes.set_xlabel("bytes")
    axes.set_title(_TITLES[what], fontsize=9)
    axes.grid(alpha=0.25)
    axes.legend(frameon=False, fontsize=8)


def plot_ipc(metrics: dict[str, Metric], records: list[dict[str, Any]], folder: Path, name: str = "ipc") -> list[Path]:
    """Writes ipc.png into `folder`, unless messages were not measured."""
    if set(_lines(records)) != set(_TITLES):
        return []
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, 3, figsize=(11, 3.2), layout="constrained")
    for axes, what in zip(panels, _TITLES, strict=True):
        _draw(axes, what, records, metrics)
    panels[0].set_ylabel("instructions")
    path = folder / f"{name}.png"
    figure.savefig(path, dpi=130)
    pyplot.close(figure)
    return [path]
