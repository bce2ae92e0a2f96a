# SPDX-License-Identifier: Apache-2.0
"""Pictures of real time: release latency, response times against deadlines, and the cost of the
ready queue."""

import json
import re
from pathlib import Path
from typing import Any

from tessera.bench.rt import RESPONSE_SHARE

OURS, MORE, LIMIT = "#1b6ca8", "#9cc3e0", "#b03a2e"
_QUEUE = re.compile(r"riscv\.rt\.queue\.(insert|take)\.(\d+)")
US_PER_TICK = 0.1


def _draw_late(axes: Any, app: dict[str, Any]) -> None:
    """Draws the release latency of the app with the earliest deadlines, which only the hypervisor
    delays."""
    late = {int(ticks): count for ticks, count in app["late"].items()}
    axes.bar([ticks * US_PER_TICK for ticks in late], list(late.values()), US_PER_TICK * 0.9, color=OURS)
    axes.set_yscale("log")
    axes.set_xlabel("release latency (us)")
    axes.set_ylabel("jobs")
    axes.set_title(f"app with the earliest deadlines, {app['releases']:,} releases", fontsize=9)


def _draw_response(axes: Any, apps: list[dict[str, Any]]) -> None:
    """Draws the distribution of each app's response times over its period, and its deadline."""
    for row, app in enumerate(apps):
        total = sum(app["response"].values())
        for bucket, count in app["response"].items():
            start = int(bucket) / RESPONSE_SHARE
            axes.barh(row, 1 / RESPONSE_SHARE, left=start, color=OURS, alpha=min(1.0, 0.25 + count / total))
        deadline = app["deadline_us"] / app["period_us"]
        axes.plot([deadline, deadline], [row - 0.45, row + 0.45], color=LIMIT, linewidth=2)
    axes.set_yticks(range(len(apps)), [f"{app['budget_us']}/{app['period_us']} us" for app in apps])
    axes.invert_yaxis()
    axes.set_xlim(0, 1.02)
    axes.set_xlabel("response time as a share of the period (red: deadline)")
    axes.set_title("response times of eight apps, 95 % of the hart", fontsize=9)


def _draw_queue(axes: Any, records: list[dict[str, Any]]) -> None:
    for what, colour, label in (("insert", OURS, "insert"), ("take", LIMIT, "remove the first")):
        found = [(_QUEUE.fullmatch(line["metric"]), line) for line in records]
        lines = sorted(
            ((int(match[2]), line) for match, line in found if match and match[1] == what), key=lambda entry: entry[0]
        )
        axes.plot([n for n, _ in lines], [line["median"] for _, line in lines], color=colour, marker="o", label=label)
        axes.plot([n for n, _ in lines], [line["max"] for _, line in lines], color=colour, linestyle=":")
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_xlabel("RT-VCPUs in the queue")
    axes.set_ylabel("instructions (dotted: maximum)")
    axes.legend(frameon=False, fontsize=8)
    axes.set_title("the ready queue, a heap", fontsize=9)


def plot_rt(records: list[dict[str, Any]], folder: Path) -> list[Path]:
    """Writes rt.png into `folder` from this run's records and its rt-stress.json, unless either is
    missing."""
    version = records[0]["config"]["qemu"] if records else ""
    queue = [line for line in records if line["config"]["qemu"] == version and line["config"]["system"] != "native"]
    stress = folder / "rt-stress.json"
    if not stress.is_file() or not any(_QUEUE.fullmatch(line["metric"]) for line in queue):
        return []
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    apps = json.loads(stress.read_text(encoding="utf-8"))
    figure, (left, middle, right) = pyplot.subplots(1, 3, figsize=(13, 3.6), layout="constrained")
    _draw_late(left, min(apps, key=lambda app: app["deadline_us"]))
    _draw_response(middle, apps)
    _draw_queue(right, queue)
    path = folder / "rt.png"
    figure.savefig(path, dpi=130)
    pyplot.close(figure)
    return [path]
