# SPDX-License-Identifier: Apache-2.0
"""The cost of the end of a quantum on the M5150, by the number of VCPUs and the number of GPR
shadow sets."""

import re
from pathlib import Path
from typing import Any

from tessera.bench.labels import OURS
from tessera.bench.mips import SWITCH_VCPUS

_NAME = re.compile(r"mips\.switch\.vcpus\.sets(\d+)")
_COLOURS = (OURS, "#6a9a3a", "#d98032")


def plot_banks(records: list[dict[str, Any]], folder: Path) -> list[Path]:
    """Writes mips-banks.png into `folder`, unless switches were not measured."""
    matches = [(match, line) for line in records if (match := _NAME.fullmatch(line["metric"]))]
    curves = {int(match[1]): line["curve"] for match, line in matches}
    if not curves:
        return []
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 3.8), layout="constrained")
    for (sets, curve), colour in zip(sorted(curves.items(), reverse=True), _COLOURS, strict=True):
        axes.plot(
            SWITCH_VCPUS,
            curve,
            color=colour,
            marker="o",
            markersize=4,
            label=f"{sets} shadow register set{'s' * (sets > 1)}",
        )
    axes.set_ylim(bottom=0)
    axes.set_xticks([1, *range(2, SWITCH_VCPUS[-1] + 1, 2)])
    axes.set_xlabel("virtual CPUs (VCPUs) that share the core")
    axes.set_ylabel("executed instructions (median)")
    axes.set_title("Tessera on the M5150: switch to another VCPU at the end of its time slice", fontsize=10)
    axes.grid(alpha=0.25)
    axes.legend(frameon=False, fontsize=8)
    path = folder / "mips-banks.png"
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
    return [path]
