# SPDX-License-Identifier: Apache-2.0
"""Table II of the M5150 paper as a picture, with the paper's and our figures: send, receive,
deliver 20 to 100 bytes."""

import re
from pathlib import Path
from typing import Any

from tessera.bench.labels import OURS, OURS_PALE, PEER_COLOURS, PEER_MARKERS, PEERS
from tessera.bench.metrics import Metric
from tessera.bench.plot import machine, of_first

_NAME = re.compile(r"(?:riscv|mips)\.ipc\.(send|recv|delivery)\.(\d+)(\.shared)?")
_PEERS = ("m5150", "hellfire")
_TITLES = {
    "send": "Send: the sender's call",
    "recv": "Receive: the receiver's call",
    "delivery": "Delivery: from the sender's call to the receiver's task",
}


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
        (
            "Tessera without shadow register sets",
            OURS_PALE,
            "d",
            {size: line["value"] for size, line in shared.items()},
        ),
        *((PEERS[name].label, PEER_COLOURS[name], PEER_MARKERS[name], _peer(ours, metrics, name)) for name in _PEERS),
    ]
    for name, colour, marker, values in series:
        if values:
            axes.plot(list(values), list(values.values()), color=colour, marker=marker, label=name)
    axes.set_ylim(bottom=0)
    axes.set_xticks(list(ours))
    axes.set_xlabel("message size (bytes)")
    axes.set_title(_TITLES[what], fontsize=9)
    axes.grid(alpha=0.25)


def _legend(panels: Any) -> dict[str, Any]:
    """Returns the lines of all panels by name, each name once."""
    found: dict[str, Any] = {}
    for axes in panels:
        for handle, name in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(name, handle)
    return found


def plot_ipc(metrics: dict[str, Metric], records: list[dict[str, Any]], folder: Path, name: str = "ipc") -> list[Path]:
    """Writes ipc.png into `folder`, unless messages were not measured."""
    if set(_lines(records)) != set(_TITLES):
        return []
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, 3, figsize=(12, 4), layout="constrained")
    for axes, what in zip(panels, _TITLES, strict=True):
        _draw(axes, what, records, metrics)
    panels[0].set_ylabel("executed instructions")
    figure.suptitle(f"Messages between two VMs that share a core ({machine(records)})", fontsize=11)
    legend = _legend(panels)
    figure.legend(list(legend.values()), list(legend), loc="outside lower center", ncols=2, frameon=False, fontsize=9)
    path = folder / f"{name}.png"
    figure.savefig(path, dpi=130)
    pyplot.close(figure)
    return [path]
