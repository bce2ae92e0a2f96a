# SPDX-License-Identifier: Apache-2.0
"""The two diagrams of the M5150 paper's section V: the overhead of an audio codec (ADPCM) in VMs in
percent, with the paper's figures and ours."""

import re
from pathlib import Path
from typing import Any

from tessera.bench.labels import OURS, OURS_PALE, PEER_COLOURS, PEERS
from tessera.bench.metrics import Metric
from tessera.bench.plot import machine, of_first

PAPER = PEER_COLOURS["m5150"]
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
    styles = dict(zip(alone, ("-", "--", ":"), strict=False))
    for place, ((quantum, line), marker) in enumerate(zip(alone.items(), "osD", strict=False)):
        done = [100 * (part + 1) / len(line["curve"]) for part in range(len(line["curve"]))]
        # Equal curves share a line; each has its own marks on it.
        axes.plot(
            done, line["curve"], styles[quantum], c=OURS, marker=marker, markevery=(place, len(alone)), clip_on=False,
            label=f"Tessera, time slices of {quantum} ms",
        )  # fmt: skip
    for quantum, line in alone.items():
        paper = _papers(metrics, line)
        label = f"{PEERS['m5150'].label}, {quantum} ms, final value"
        axes.axhline(paper, c=PAPER, linestyle=styles[quantum], label=label)
        axes.annotate(f"{paper:g} %", (2, paper), xytext=(0, 2), textcoords="offset points", fontsize=8, color=PAPER)
    axes.set_yscale("symlog", linthresh=0.01)
    axes.set_ylim(-0.002, 4)
    axes.set_yticks([0, 0.01, 0.1, 1], ["0", "0.01", "0.1", "1"])
    axes.set_xlim(0, 102)
    axes.set_xlabel("work done (%)")
    axes.set_title(f"Audio codec in one VM: overhead while the work goes on\n({machine(records)})", fontsize=10)


def _at_1ms(cases: Cases) -> dict[int, dict[str, Any]]:
    return {vms: line for (vms, quantum), line in sorted(cases.items()) if quantum == 1}


def _draw_vms(axes: Any, metrics: dict[str, Metric], records: list[dict[str, Any]]) -> None:
    """Draws figure 6: a quantum of 1 ms, 1 to 8 VMs."""
    ours, shared = _at_1ms(_by_case(records)), _at_1ms(_by_case(records, shared=True))
    series = [
        ("Tessera", OURS, {vms: line["value"] for vms, line in ours.items()}),
        ("Tessera without shadow register sets", OURS_PALE, {vms: line["value"] for vms, line in shared.items()}),
        (PEERS["m5150"].label, PAPER, {vms: _papers(metrics, line) for vms, line in ours.items()}),
    ]
    series = [entry for entry in series if entry[2]]
    width, counts = 0.8 / len(series), list(ours)
    for n, (name, colour, values) in enumerate(series):
        at = [counts.index(vms) + (n + 0.5) * width - 0.4 for vms in values]
        bars = axes.bar(at, list(values.values()), width, color=colour, label=name)
        axes.bar_label(bars, [f"{round(value, 3) + 0:g}" for value in values.values()], fontsize=8, padding=1)
    axes.axhline(0, color="black", linewidth=0.8)
    axes.set_xticks(range(len(counts)), [str(vms) for vms in counts])
    axes.set_ylim(0, 2)
    axes.set_xlabel("VMs that share one core, in time slices of 1 ms")
    axes.set_title(f"Audio codec in 1 to 8 VMs: overhead\n({machine(records)})", fontsize=10)


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
        figure, axes = pyplot.subplots(figsize=(7, 4.4), layout="constrained")
        draw(axes, metrics, records)
        axes.set_ylabel("overhead (% of the instructions\nexecuted without a hypervisor)")
        axes.grid(axis="y", alpha=0.25)
        figure.legend(loc="outside lower center", ncols=len(axes.containers) or 2, frameon=False, fontsize=8)
        paths.append(folder / f"{begin}-{name}.png")
        figure.savefig(paths[-1], dpi=120)
        pyplot.close(figure)
    return paths
