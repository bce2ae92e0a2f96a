# SPDX-License-Identifier: Apache-2.0
"""What a VM leaves of the services of FreeRTOS, on both architectures, alone and beside load, with the
published figures of Ker-ONE."""

from pathlib import Path
from typing import Any

from tessera.bench.labels import OURS, OURS_PALE, PEER_COLOURS, PEER_MARKERS, PEERS, SERVICES
from tessera.bench.metrics import Metric
from tessera.bench.plot import of_first
from tessera.bench.thread_metric import ROWS

_LOWEST = 75  # of the axis, in percent
_GREEN, _GREEN_PALE = "#4f7d2c", "#b5d19c"
_SERIES = (  # prefix and end of the metric, words, colour, mark, distance from the row
    ("vdm", "", "Tessera on RISC-V, alone", OURS, "o", -0.3),
    ("vdm", ".load", "Tessera on RISC-V, beside a busy VM", OURS_PALE, "o", -0.1),
    ("mips.vdm", "", "Tessera on the M5150, alone", _GREEN, "s", 0.1),
    ("mips.vdm", ".load", "Tessera on the M5150, beside a busy VM", _GREEN_PALE, "s", 0.3),
)


def _values(records: list[dict[str, Any]]) -> dict[str, float]:
    """Returns the figures by metric, of iasim and of the first QEMU."""
    first = of_first([line for line in records if "qemu" in line["config"]])
    return {line["metric"]: line["value"] for line in records if "qemu" not in line["config"] or first(line)}


def series(records: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Returns the shares of each series that was measured, by words and by row; of the first QEMU."""
    values = _values(records)
    found = {}
    for prefix, end, words, *_ in _SERIES:
        names = {row: f"{prefix}.threadmetric.{row}{end}" for row in ROWS}
        found[words] = {row: values[name] for row, name in names.items() if name in values}
    return {words: shares for words, shares in found.items() if shares}


def plot_thread_metric(metrics: dict[str, Metric], records: list[dict[str, Any]], folder: Path) -> list[Path]:
    """Writes thread-metric.png into `folder`, unless the services were not measured."""
    found = series(records)
    if not found:
        return []
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(9, 5), layout="constrained")
    for _, _, words, colour, mark, apart in _SERIES:
        shares = found.get(words, {})
        places = [ROWS.index(row) + apart for row in shares]
        axes.scatter(list(shares.values()), places, c=colour, marker=mark, s=42, label=words, zorder=3)
    peers = {row: metrics[f"vdm.threadmetric.{row}"].peers.get("kerone") for row in ROWS}
    published = {row: value for row, value in peers.items() if value is not None}
    colour, mark = PEER_COLOURS["kerone"], PEER_MARKERS["kerone"]
    label = f"Ker-ONE (published: {PEERS['kerone'].published}), another RTOS on a Cortex-A9"
    places = [ROWS.index(row) for row in published]
    axes.scatter(
        list(published.values()), places, c="white", edgecolors=colour, marker=mark, s=46, label=label, zorder=2
    )
    goal = metrics["vdm.threadmetric.min"].goal
    if goal is not None:
        axes.axvline(goal, color="black", linewidth=0.8, label="goal")
    axes.set_yticks(range(len(ROWS)), [SERVICES[row] for row in ROWS])
    axes.invert_yaxis()
    axes.set_xlim(_LOWEST, 101)
    axes.set_xlabel(f"passes for an instruction, % of those without a hypervisor (the axis begins at {_LOWEST})")
    axes.set_title("What a VM leaves of the services of FreeRTOS", fontsize=11)
    axes.grid(alpha=0.25)
    figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=9)
    path = folder / "thread-metric.png"
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
    return [path]
