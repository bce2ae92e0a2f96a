# SPDX-License-Identifier: Apache-2.0
"""The two figures of the M5150 paper's section V with our numbers beside the paper's: ADPCM overhead in percent."""

import re
from pathlib import Path
from typing import Any

from tessera.bench_metrics import Metric

OURS, PAPER = "#1b6ca8", "#d98032"
_NAME = re.compile(r"riscv\.adpcm\.(\d)vm\.q(\d+)ms")


def _by_case(records: list[dict[str, Any]]) -> dict[tuple[int, int], dict[str, Any]]:
    """Records of the first emulator by (VMs, quantum in ms); none if ADPCM was not measured."""
    version = records[0]["config"]["qemu"] if records else ""
    cases = {}
    for line in records:
        match = _NAME.fullmatch(line["metric"])
        if match and line["config"]["qemu"] == version:
            cases[int(match[1]), int(match[2])] = line
    return cases


def _papers(metrics: dict[str, Metric], line: dict[str, Any]) -> float:
    return metrics[line["metric"]].peers["m5150"]


def _draw_convergence(axes: Any, metrics: dict[str, Metric], cases: dict[tuple[int, int], dict[str, Any]]) -> None:
    """Figure 5: one VM, the overhead as the work goes on, for each quantum; the paper's as where it ends up."""
    alone = {quantum: line for (vms, quantum), line in sorted(cases.items()) if vms == 1}
    for (quantum, line), style, marker in zip(alone.items(), ("-", "--", ":"), "osD", strict=False):
        done = [100 * (part + 1) / len(line["curve"]) for part in range(len(line["curve"]))]
        axes.plot(done, line["curve"], style, c=OURS, marker=marker, fillstyle="none", label=f"Tessera, {quantum} ms")
        axes.axhline(_papers(metrics, line), c=PAPER, linestyle=style, label=f"M5150 paper, {quantum} ms")
    axes.set_yscale("symlog", linthresh=0.01)
    axes.set_ylim(-0.002, 4)
    axes.set_yticks([0, 0.01, 0.1, 1], ["0", "0.01", "0.1", "1"])
    axes.set_xlabel("work done (%)")


def _draw_vms(axes: Any, metrics: dict[str, Metric], cases: dict[tuple[int, int], dict[str, Any]]) -> None:
    """Figure 6: a quantum of 1 ms, 1 to 8 VMs."""
    shared = [(vms, line) for (vms, quantum), line in sorted(cases.items()) if quantum == 1]
    ours = axes.bar([at - 0.2 for at in range(len(shared))], [line["value"] for _, line in shared], 0.4, color=OURS)
    theirs = [_papers(metrics, line) for _, line in shared]
    papers = axes.bar([at + 0.2 for at in range(len(shared))], theirs, 0.4, color=PAPER)
    axes.bar_label(ours, fmt="{:.3g}", fontsize=8)
    axes.bar_label(papers, fmt="{:.3g}", fontsize=8)
    axes.legend([ours, papers], ["Tessera", "M5150 paper"], frameon=False, loc="upper left")
    axes.set_xticks(range(len(shared)), [str(vms) for vms, _ in shared])
    axes.set_ylim(0, 2.3)
    axes.set_xlabel("VMs on one hart, quantum 1 ms")


def plot_adpcm(metrics: dict[str, Metric], records: list[dict[str, Any]], folder: Path) -> list[Path]:
    """Writes adpcm-convergence.png and adpcm-vms.png into `folder`; returns the paths, none without figures."""
    cases = _by_case(records)
    if not cases:
        return []
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    paths = []
    for name, draw in (("convergence", _draw_convergence), ("vms", _draw_vms)):
        figure, axes = pyplot.subplots(figsize=(6, 3.6), layout="constrained")
        draw(axes, metrics, cases)
        axes.set_ylabel("ADPCM overhead (%)")
        axes.grid(axis="y", alpha=0.25)
        if name == "convergence":
            axes.legend(frameon=False, fontsize=8, loc="center right")
        paths.append(folder / f"adpcm-{name}.png")
        figure.savefig(paths[-1], dpi=120)
        pyplot.close(figure)
    return paths
