# SPDX-License-Identifier: Apache-2.0
"""Pictures of real time: release latency, response times against deadlines, and the cost of the
ready queue."""

import json
from pathlib import Path
from typing import Any

from tessera.bench.labels import LIMIT
from tessera.bench.plot_rt_queue import draw_queue, has_queue
from tessera.bench.rt import RESPONSE_SHARE
from tessera.colours import on_white

_DEFAULT_COLOUR = "magenta"  # of records without the VM's colour
US_PER_TICK = 0.1


def _colour(app: dict[str, Any]) -> str:
    """Returns the colour of the app's VM in the system file."""
    return on_white(app.get("colour", _DEFAULT_COLOUR))


def _draw_late(axes: Any, app: dict[str, Any]) -> None:
    """Draws the release latency of the app with the earliest deadlines, which only the hypervisor
    delays."""
    late = {int(ticks): count for ticks, count in app["late"].items()}
    places = [ticks * US_PER_TICK for ticks in late]
    axes.bar(places, list(late.values()), US_PER_TICK * 0.9, color=_colour(app))
    axes.set_yscale("symlog", linthresh=1)  # one job is visible, and zero is on the axis
    axes.set_ylim(0, 3 * max(late.values()))
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.set_xlim(left=0)
    axes.set_xlabel("from the release to the job's first instructions (us)")
    axes.set_ylabel("jobs (logarithmic)")
    axes.set_title(f"Start delay of the app with the earliest deadlines,\n{app['releases']:,} releases", fontsize=9)


def _draw_response(axes: Any, apps: list[dict[str, Any]]) -> None:
    """Draws the distribution of each app's response times over its period, and its deadline."""
    for row, app in enumerate(apps):
        total = sum(app["response"].values())
        for bucket, count in app["response"].items():
            start = int(bucket) / RESPONSE_SHARE * 100
            share = min(1.0, 0.25 + count / total)
            axes.barh(row, 100 / RESPONSE_SHARE, left=start, color=_colour(app), alpha=share)
        deadline = app["deadline_us"] / app["period_us"] * 100
        axes.plot([deadline, deadline], [row - 0.45, row + 0.45], color=LIMIT, linewidth=2.5)
    labels = [f"{app['budget_us']:,} us every {app['period_us']:,} us" for app in apps]
    axes.set_yticks(range(len(apps)), labels, fontsize=8)
    axes.invert_yaxis()
    axes.set_xlim(0, 102)
    axes.set_xlabel("from the release to the job's end (% of the period)\ndarker: more jobs; red: deadline")
    axes.set_title("Response times of eight real-time apps\nthat use 95 % of the CPU", fontsize=9)


def plot_rt(records: list[dict[str, Any]], folder: Path) -> list[Path]:
    """Writes rt.png into `folder` from this run's records and its rt-stress.json, unless either is
    missing."""
    version = records[0]["config"]["qemu"] if records else ""
    queue = [line for line in records if line["config"]["qemu"] == version and line["config"]["system"] != "native"]
    stress = folder / "rt-stress.json"
    if not stress.is_file() or not has_queue(queue):
        return []
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    apps = json.loads(stress.read_text(encoding="utf-8"))
    figure, (left, middle, right) = pyplot.subplots(1, 3, figsize=(13.5, 4), layout="constrained")
    _draw_late(left, min(apps, key=lambda app: app["deadline_us"]))
    _draw_response(middle, apps)
    draw_queue(right, queue)
    path = folder / "rt.png"
    figure.savefig(path, dpi=130)
    pyplot.close(figure)
    return [path]
