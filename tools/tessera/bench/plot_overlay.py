# SPDX-License-Identifier: Apache-2.0
"""The phases of an overlay beside those that the paper on overlays in Linux's FPGA manager published."""

from pathlib import Path
from typing import Any

from tessera.bench.labels import OURS, PEER_COLOURS
from tessera.bench.overlay import PHASES

# Milliseconds, a bitstream of 5.9 MB; the paper gives no LDTO of its own.
PUBLISHED = {"lfw": 27.0, "dcpl": 0.002, "lcfg": 87.0, "cpl": 0.001, "updt": 1.0, "ldrv": 18.0, "other": 2.0}
_COLOURS = dict(
    zip(
        (*PHASES, "other"),
        ("#8c564b", "#e377c2", "#2ca02c", "#1f77b4", "#bcbd22", "#ff7f0e", "#9467bd", "#7f7f7f"),
        strict=True,
    )
)


def measured(records: list[dict[str, Any]]) -> dict[str, float]:
    """Returns the milliseconds of each phase with the large bitstream; empty if they were not measured."""
    found = {record["metric"]: record["value"] for record in records if "value" in record}
    names = {name: f"vdm.phase.{name}" for name in PHASES}
    return {name: found[key] / 1000 for name, key in names.items()} if set(names.values()) <= set(found) else {}


def _stack(axes: Any, ours: dict[str, float]) -> None:
    for x, times in enumerate((PUBLISHED, ours)):
        bottom = 0.0
        for name, value in times.items():
            axes.bar(x, value, bottom=bottom, color=_COLOURS[name], label=name.upper() if x == 0 else None)
            bottom += value
        axes.text(x, bottom + 1, f"{bottom:.1f} ms", ha="center")
    axes.set_xticks([0, 1], ["Linux, published", "Tessera, simulated ICAP"])
    axes.set_ylabel("time to apply an overlay of 5.9 MB (ms)")
    axes.legend(frameon=False, fontsize=8)


def _each(axes: Any, ours: dict[str, float]) -> None:
    places = range(len(PHASES))
    axes.bar(
        [x - 0.2 for x in places],
        [PUBLISHED.get(name, 0) for name in PHASES],
        0.4,
        color=PEER_COLOURS["kerone"],
        label="Linux, published (no LDTO of its own)",
    )
    axes.bar([x + 0.2 for x in places], [ours[name] for name in PHASES], 0.4, color=OURS, label="Tessera")
    axes.set_yscale("log")
    axes.set_ylim(1e-4, 2000)
    axes.set_xticks(list(places), [name.upper() for name in PHASES])
    axes.set_ylabel("time of the phase (ms)")
    axes.legend(frameon=False)
    axes.grid(axis="y", alpha=0.25)


def plot_overlay(records: list[dict[str, Any]], folder: Path) -> list[Path]:
    """Writes overlay.png into `folder`, if the phases were measured."""
    import matplotlib

    ours = measured(records)
    if not ours:
        return []
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, 2, figsize=(10, 4.5), layout="constrained")
    _stack(panels[0], ours)
    _each(panels[1], ours)
    path = folder / "overlay.png"
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
    return [path]
