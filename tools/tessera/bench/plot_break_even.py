# SPDX-License-Identifier: Apache-2.0
"""Software against a reconfiguration and the frames in hardware, for each HW task, with Ker-ONE's published times."""

from pathlib import Path
from typing import Any

from tessera.bench.labels import LIMIT, OURS, PEER_COLOURS
from tessera.fabric.break_even import Case, Task

_FRAMES = [0.01 * 1.25**step for step in range(42)]  # 0.01 to 94


def _draw(axes: Any, task: Task, case: Case) -> None:
    axes.plot(_FRAMES, [n * case.soft for n in _FRAMES], color=LIMIT, label="Tessera, in software")
    axes.plot(_FRAMES, [case.reconf + n * case.hard for n in _FRAMES], color=OURS, label="Tessera, reconfigured")
    gain = case.soft - case.hard
    if gain > 0:
        at = case.reconf / gain
        axes.scatter([at], [at * case.soft], color="black", zorder=3, label="break-even")
    if task.kerone:
        peer, colour = task.kerone, PEER_COLOURS["kerone"]
        axes.plot(_FRAMES, [n * peer.soft for n in _FRAMES], "--", color=colour, label="Ker-ONE, in software")
        reconfigured = [peer.reconf + n * peer.hard for n in _FRAMES]
        axes.plot(_FRAMES, reconfigured, ":", color=colour, label="Ker-ONE, reconfigured (published)")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_title(f"{task.name}, frames of {task.size:,} bytes", fontsize=9)
    axes.grid(alpha=0.25)


def plot_break_even(tasks: list[Task], found: list[Case], folder: Path) -> Path:
    """Writes break-even.png into `folder`, for whole frames."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(2, 3, figsize=(12, 6.5), layout="constrained", sharex=True)
    for axes, task in zip(panels.flat, tasks, strict=True):
        _draw(axes, task, next(case for case in found if (case.task, case.size) == (task.name, task.size)))
    for axes in panels[-1]:
        axes.set_xlabel("frames for a reconfiguration")
    for row in panels:
        row[0].set_ylabel("time (us)")
    figure.legend(*panels.flat[0].get_legend_handles_labels(), loc="outside lower center", ncols=5, frameon=False)
    path = folder / "break-even.png"
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
    return path
