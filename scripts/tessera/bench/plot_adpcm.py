# SPDX-License-Identifier: Apache-2.0
"""The two diagrams of the M5150 paper's section V, ADPCM overhead in percent, with the paper's and
our figures."""

import re
from pathlib import Path
from typing import Any

from tessera.bench.metrics import Metric
from tessera.bench.plot import of_first

OURS, SHARED, PAPER = "#1b6ca8", "#9dc3e0", "#d98032"
_NAME = re.compile(r"(?:riscv|mips)\.adpcm\.(\d)vm\.q(\d+)ms(\.shared)?")

Cases = dict[tuple[int, int], dict[str, Any]]


def _by_case(records: list[dict[str, Any]], shared: bool = False) -> Cases:
    """Returns records of the first emulator by (VMs, quantum in ms); none if ADPCM was not
    measured. `shared`: the records with one shadow set for all VCPUs, on the M5150 only."""
    emulator = of_first(records)
    cases = {}
    for line in records:
        match = _NAME.fullmatch(line["metric"])
        if match and emulator(line) and bool(match[3]) == shared:
            cases[int(match[1]), int(match[2])] = line
    return cases


def _papers(metrics: dict[str, Metric], line: dict[str, Any]) -> float:
    return metrics[line["metric"]].peers["m5150"]


def _draw_convergence(axes: Any, metrics: dict[str, Metric], records: list[dict[str, Any]]) -> None:
    """Draws figure 5: one VM, the overhead during the work, for each quantum; of the paper, the
    final values."""
    alone = {quantum: line for (vms, quantum), line in sorted(_by_case(records).items()) if vms == 1}
    for (quantum, line), style, marker in zip(alone.items(), ("-", "--", ":"), "osD", strict=False):
        done = [100 * (part + 1) / len(line["curve"]) for part in range(len(line["curve"]))]
        axes.plot(done, line["curve"], style, c=OURS, marker=marker, fillstyle="none", label=f"Tessera, {quantum} ms")
        axes.axhline(_papers(metrics, line), c=PAPER, linestyle=style, label=f"M5150 paper, {quantum} ms")
    axes.set_yscale("symlog", linthresh=0.01)
    axes.set_ylim(-0.002, 4)
    axes.set_yticks([0, 0.01, 0.1, 1], ["0", "0.01", "0.1", "1"])
    axes.set_xlabel("work done (%)")
    axes.legend(frameon=False, fontsize=8, loc="center right")


def _at_1ms(cases: Cases) -> dict[int, dict[str, Any]]:
    return {vms: line for (vms, quantum), line in sorted(cases.items()) if quantum == 1}


def _draw_vms(axes: Any, metrics: dict[str, Metric], records: list[dict[str, Any]]) -> None:
    """Draws figure 6: a quantum of 1 ms, 1 to 8 VMs."""
    ours, shared = _at_1ms(_by_case(records)), _at_1ms(_by_case(records, shared=True))
    series = [
        ("Tessera", OURS, {vms: line["value"] for vms, line in ours.items()}),
        ("without shadow sets", SHARED, {vms: line["value"] for vms, line in shared.items()}),
        ("M5150 paper", PAPER, {vms: _papers(metrics, line) for vms, line in ours.items()}),
    ]
    series = [entry for entry in series if entry[2]]
    width, counts = 0.8 / len(series), list(ours)
    for n, (name, colour, values) in enumerate(series):
        at = [counts.index(vms) + (n + 0.5) * width - 0.4 for vms in values]
        bars = axes.bar(at, list(values.values()), width, color=colour, label=name)
        axes.bar_label(bars, [f"{round(value, 3) + 0:g}" for value in values.values()], fontsize=8)
    axes.legend(frameon=False, fontsize=8, loc="upper left", ncols=len(series))
    axes.set_xticks(range(len(counts)), [str(vms) for vms in counts])
    axes.set_ylim(0, 2.3)
    axes.set_xlabel("VMs on one hart, quantum 1 ms")


def plot_adpcm(
    metrics: dict[str, Metric], records: list[dict[str, Any]], folder: Path, begin: str = "adpcm"
) -> list[Path]:
    """Writes adpcm-convergence.png and adpcm-vms.png into `folder`; returns the paths, none without
    figures."""
    if not _by_case(records):
        return []
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    paths = []
    for name, draw in (("convergence", _draw_convergence), ("vms", _draw_vms)):
        figure, axes = pyplot.subplots(figsize=(6, 3.6), layout="constrained")
        draw(axes, metrics, records)
        axes.set_ylabel("ADPCM overhead (%)")
        axes.grid(axis="y", alpha=0.25)
        paths.append(folder / f"{begin}-{name}.png")
        figure.savefig(paths[-1], dpi=120)
        pyplot.close(figure)
    return paths
