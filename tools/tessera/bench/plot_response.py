# SPDX-License-Identifier: Apache-2.0
"""The distributions of the response of a task of FreeRTOS, natively and in a VM, on both architectures, with the
worst that Ker-ONE adds (published); and of the end of its job on an accelerator."""

from pathlib import Path
from statistics import median
from typing import Any

from tessera.bench.labels import OURS, PEER_COLOURS, PEERS
from tessera.bench.metrics import Metric
from tessera.bench.plot import of_first
from tessera.bench.response import ADDED, LOAD, NATIVE, SITUATIONS, VM

_MACHINES = {"riscv": "RISC-V (QEMU)", "mips": "M5150 (iasim)"}
_WORDS = {"computing": "a task computes when the interrupt comes", "asleep": "the processor sleeps"}
_RUNS = (  # end of the metric, words, colour, width and style of the line
    (NATIVE, "without a hypervisor", "#b8b8b8", 6.0, "-"),
    (VM, "in a VM, alone", OURS, 2.0, "-"),
    (LOAD, "in a VM, beside a busy VM", "#4f7d2c", 1.2, "--"),
)
_JOBS = (  # with an accelerator: the same
    (".own", "in a region of its own", "#b8b8b8", 6.0, "-"),
    (".preempt", "another VM's job is preempted", OURS, 2.0, "-"),
    (".preempt_configure", "another VM's job is preempted, the region configured", "#4f7d2c", 2.0, "--"),
)


def _by_metric(records: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Returns the records by metric, of iasim and of the first QEMU."""
    first = of_first([line for line in records if "qemu" in line["config"]])
    return {line["metric"]: line for line in records if "qemu" not in line["config"] or first(line)}


def panels(records: list[dict[str, Any]]) -> dict[tuple[str, str], dict[str, list[int]]]:
    """Returns the samples by machine and situation, then by the end of the metric; of the first QEMU."""
    lines, found = _by_metric(records), {}
    for machine in _MACHINES:
        for situation in SITUATIONS:
            names = {end: f"{machine}.response.{situation}{end}" for end, *_ in _RUNS}
            curves = {end: lines[name]["curve"] for end, name in names.items() if name in lines}
            if curves:
                found[machine, situation] = curves
    return found


def jobs(records: list[dict[str, Any]]) -> dict[str, dict[str, list[float]]]:
    """Returns the times of jobs on an accelerator by situation, then by the end of the metric; of the first QEMU."""
    lines, found = _by_metric(records), {}
    for situation in SITUATIONS:
        names = {end: f"vdm.response.job.{situation}{end}" for end, *_ in _JOBS}
        curves = {end: lines[name]["curve"] for end, name in names.items() if name in lines}
        if curves:
            found[situation] = curves
    return found


def _step(axes: Any, values: list[Any], label: str, colour: str, width: float, style: str) -> None:
    """Draws the share of the values that are at most so large."""
    shares = [100 * (n + 1) / len(values) for n in range(len(values))]
    axes.step(
        [values[0], *values], [0.0, *shares], where="post", color=colour, linewidth=width, linestyle=style, label=label
    )


def _finish(axes: Any, least: float, most: float) -> None:
    axes.set_xscale("log")
    axes.set_xlim(least, most)
    axes.set_ylim(0, 103)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.grid(alpha=0.25)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), frameon=False, fontsize=9)


def _draw(axes: Any, curves: dict[str, list[int]], published: float) -> None:
    """Draws one panel: the share of the responses that take at most so many instructions."""
    for end, words, colour, width, style in _RUNS:
        values = curves.get(end, [])
        if values:
            label = f"{words}: median {median(values):,.0f}, worst {values[-1]:,}"
            _step(axes, values, label, colour, width, style)
    if NATIVE in curves:
        words = f"{PEERS['kerone'].name.partition(',')[0]}'s worst: + 3.09 us, {published:,.0f} cycles"
        place = curves[NATIVE][-1] + published
        axes.axvline(place, color=PEER_COLOURS["kerone"], linewidth=1.4, linestyle=":", label=words)
    _finish(axes, 200, 2_000_000)
    axes.set_xlabel("executed instructions from the due interrupt to the task's first (logarithmic)")


def _draw_jobs(axes: Any, curves: dict[str, list[float]]) -> None:
    """Draws one panel: the share of the jobs whose result the task has after at most so many microseconds."""
    for end, words, colour, width, style in _JOBS:
        values = curves.get(end, [])
        if values:
            label = f"{words}: median {median(values):,.1f} us, worst {values[-1]:,.1f} us"
            _step(axes, values, label, colour, width, style)
    _finish(axes, 3, 100)
    axes.set_xlabel("us of virtual time from the due interrupt to the result of the task's job (logarithmic)")


def _fill(grid: Any, machines: list[str], records: list[dict[str, Any]], metrics: dict[str, Metric]) -> None:
    """Draws a row for each machine, and one for the jobs."""
    found, with_accelerator = panels(records), jobs(records)
    for row, machine in enumerate(machines):
        published = metrics[f"{machine}.response.{SITUATIONS[0]}{ADDED}"].peers["kerone"]
        for axes, situation in zip(grid[row], SITUATIONS, strict=True):
            curves = found.get((machine, situation))
            axes.set_visible(curves is not None)
            if curves:
                _draw(axes, curves, published)
            axes.set_title(f"{_MACHINES[machine]}: {_WORDS[situation]}", fontsize=10)
    for situation, times in with_accelerator.items():
        axes = grid[len(machines)][SITUATIONS.index(situation)]
        _draw_jobs(axes, times)
        axes.set_title(f"a job on an accelerator (RISC-V): {_WORDS[situation]}", fontsize=10)
    for row in grid:
        row[0].set_ylabel("at most so long, %")


def plot_response(metrics: dict[str, Metric], records: list[dict[str, Any]], folder: Path) -> list[Path]:
    """Writes response.png into `folder`, unless no response was measured."""
    found = panels(records)
    machines = [machine for machine in _MACHINES if any(machine == place for place, _ in found)]
    rows = len(machines) + bool(jobs(records))
    if rows == 0:
        return []
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    size = (12, 1 + 5 * rows)
    figure, grid = pyplot.subplots(rows, len(SITUATIONS), figsize=size, layout="constrained", squeeze=False)
    _fill(grid, machines, records, metrics)
    figure.suptitle("Response of a FreeRTOS task to its timer (Ker-ONE: worst added, published, Cortex-A9 at 667 MHz)")
    path = folder / "response.png"
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
    return [path]
