# SPDX-License-Identifier: Apache-2.0
"""Pictures of the queue of RT apps and of the timers, in software and in a sorter of the fabric."""

import re
from pathlib import Path
from typing import Any

from tessera.bench.labels import LIMIT, OURS

_QUEUE = re.compile(r"riscv\.(?:rt\.queue|timers)\.((?:sorter\.)?(?:insert|take|arm|expire))\.(\d+)")
_CURVES = (  # metric, colour, line, label
    ("insert", OURS, "-", "heap: insert"),
    ("take", LIMIT, "-", "heap: remove the first"),
    ("sorter.insert", OURS, "--", "sorter: insert"),
    ("sorter.take", LIMIT, "--", "sorter: remove the first"),
)
_TIMERS = (
    ("arm", OURS, "-", "heap: arm"),
    ("expire", LIMIT, "-", "heap: remove the first"),
    ("sorter.arm", OURS, "--", "sorter: arm"),
    ("sorter.expire", LIMIT, "--", "sorter: remove the first"),
)
_HYOS = "HyOS's sorter, published: half the time of\nits software for an insertion, at any length"
_ACCESSES = 3  # of the sorter, for an insertion (1) and a removal (2) together
# Cycles of an access, the colour, and whose they are: fpga.bus.sorter_put, alone and with sorter_put_load.
_CYCLES = (
    (2, "#8ecae6", " (the fabric's own)"),
    (12, "#219ebc", " (the same under load)"),
    (30, "#126782", ""),
    (53, "#023047", ""),
)


def has_queue(records: list[dict[str, Any]]) -> bool:
    """Whether the queue was measured."""
    return any(_QUEUE.fullmatch(line["metric"]) for line in records)


def _of(records: list[dict[str, Any]], what: str) -> list[tuple[int, dict[str, Any]]]:
    """Returns the records of an operation with the number of apps, ascending."""
    found = [(_QUEUE.fullmatch(line["metric"]), line) for line in records]
    lines = [(int(match[2]), line) for match, line in found if match and match[1] == what]
    return sorted(lines, key=lambda entry: entry[0])


def _label(axes: Any, what: str, title: str, of: str = "real-time apps in the queue") -> None:
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_ylim(bottom=0)
    axes.set_xlabel(of)
    axes.set_ylabel(what)
    axes.legend(frameon=False, fontsize=8)
    axes.set_title(title, fontsize=9)


def _draw_curves(axes: Any, records: list[dict[str, Any]], curves: tuple[tuple[str, str, str, str], ...]) -> None:
    for what, colour, style, label in curves:
        lines = _of(records, what)
        sizes = [n for n, _ in lines]
        medians = [line["median"] for _, line in lines]
        axes.plot(sizes, medians, color=colour, linestyle=style, marker="o", label=f"{label}, median")
        if style == "-":
            axes.plot(sizes, [line["max"] for _, line in lines], color=colour, linestyle=":", label=f"{label}, maximum")


def draw_queue(axes: Any, records: list[dict[str, Any]]) -> None:
    """Draws the instructions of each operation."""
    _draw_curves(axes, records, _CURVES)
    axes.text(0.98, 0.02, _HYOS, transform=axes.transAxes, ha="right", fontsize=7, color="gray")
    _label(axes, "executed instructions", "Cost of the queue of ready apps,\nordered by deadline")


def together(records: list[dict[str, Any]], kind: str) -> dict[int, float]:
    """Returns the instructions of an insertion and a removal by the number of apps; `kind`: "" or "sorter."."""
    inserts = {n: line["median"] for n, line in _of(records, f"{kind}insert")}
    return {n: inserts[n] + line["median"] for n, line in _of(records, f"{kind}take") if n in inserts}


def _draw_cycles(axes: Any, records: list[dict[str, Any]]) -> None:
    """Draws where the sorter is worth it: calculated, because an access takes no time in QEMU."""
    heap, sorter = together(records, ""), together(records, "sorter.")
    axes.plot(list(heap), list(heap.values()), color=LIMIT, marker="o", label="heap")
    for cycles, colour, whose in _CYCLES:
        costs = [count + _ACCESSES * cycles for count in sorter.values()]
        label = f"sorter, {cycles} cycles for an access{whose}"
        axes.plot(list(sorter), costs, color=colour, linestyle="--", label=label)
    title = "An insertion and a removal, calculated:\na cycle for an instruction, and the accesses"
    _label(axes, "cycles", title)


def plot_rt_queue(records: list[dict[str, Any]], folder: Path) -> list[Path]:
    """Writes rt-queue.png into `folder`, if the queue was measured in both places."""
    version = records[0]["config"]["qemu"] if records else ""
    queue = [line for line in records if line["config"]["qemu"] == version and line["config"]["system"] != "native"]
    if not together(queue, "") or not together(queue, "sorter."):
        return []
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, middle, right) = pyplot.subplots(1, 3, figsize=(15, 4.4), layout="constrained")
    draw_queue(left, queue)
    _draw_cycles(middle, queue)
    _draw_curves(right, queue, _TIMERS)
    _label(right, "executed instructions", "Cost of a hart's timers,\nordered by deadline", "armed timers")
    path = folder / "rt-queue.png"
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
    return [path]
