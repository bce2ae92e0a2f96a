# SPDX-License-Identifier: Apache-2.0
"""Draws pictures from the recording of demo_fabric: the timeline and the timing diagrams of docs/fabric.md.

`python draw.py FOLDER` reads build/fpga/demo/run.json and writes timeline.png and the diagrams.
"""

import json
import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
from rtl_tools import BUILD

STATES = ("Idle", "Busy", "Preempt", "Switch", "Reconfig", "Hold")
COLOURS = ("#f2f2f2", "#5b9f6b", "#e0a030", "#8a6bbf", "#4f81bd", "#cfe3cf")
TASKS = {0: "empty", 1: "QAM16", 2: "QAM64", 3: "FFT512", 4: "FFT1024", 5: "AES-128", 6: "G.722"}
VM_COLOURS = ("#1f4e79", "#a83232")


def runs(values: list) -> list[tuple[int, int, object]]:
    """Runs of equal values: first index, index after the last, value."""
    found, begin = [], 0
    for at in range(1, len(values) + 1):
        if at == len(values) or values[at] != values[begin]:
            found.append((begin, at, values[begin]))
            begin = at
    return found


def owners(signals: dict, p: int) -> list:
    """The client of a region in each cycle: VM and device, or None."""
    pairs = zip(signals[f"{p} client"], signals[f"{p} owned"], strict=True)
    return [client if owned else None for client, owned in pairs]


def region(axes, signals: dict, p: int, length: int) -> None:
    """One row: states, and above them the client of the region."""
    y = 2 - p
    for first, last, state in runs(signals[f"{p} state"]):
        axes.broken_barh([(first, last - first)], (y - 0.38, 0.56), color=COLOURS[state], linewidth=0)
    for first, last, owner in runs(owners(signals, p)):
        if owner is not None:
            axes.broken_barh([(first, last - first)], (y + 0.2, 0.1), color=VM_COLOURS[owner >> 4], linewidth=0)
    label_jobs(axes, signals, p, y, length)


def interrupts(axes, signals: dict, length: int) -> None:
    for name, y, colour in (("irq VM 0", -0.75, VM_COLOURS[0]), ("irq VM 1", -1.0, VM_COLOURS[1]),
                            ("irq manager", -1.25, "black")):  # fmt: skip
        for first, last, value in runs(signals[name]):
            if value:
                axes.broken_barh([(first, max(last - first, length // 800))], (y - 0.09, 0.18), color=colour)


def timeline(run: dict, path: Path) -> None:
    signals = run["signals"]
    length = len(signals["request"])
    figure, axes = plt.subplots(figsize=(13, 4.6))
    for p in range(3):
        region(axes, signals, p, length)
    for number, (at, text) in enumerate(run["marks"]):
        axes.annotate(text, (at, 2.35), (at, 2.75 + 0.28 * (number % 2)), fontsize=8, ha="left",
                      arrowprops={"arrowstyle": "->", "linewidth": 0.8})  # fmt: skip
    interrupts(axes, signals, length)
    axes.set_yticks([2, 1, 0, -0.75, -1.0, -1.25], ["region 0", "region 1", "region 2", "irq VM 0", "irq VM 1",
                                                     "irq manager"], fontsize=8)  # fmt: skip
    axes.set_ylim(-1.5, 3.3)
    axes.set_xlim(0, length)
    axes.set_xlabel("fabric clock cycles")
    keys = [mpl.patches.Patch(color=colour, label=state) for state, colour in zip(STATES, COLOURS, strict=True)]
    keys += [mpl.patches.Patch(color=colour, label=f"VM {vm}'s") for vm, colour in enumerate(VM_COLOURS)]
    axes.legend(handles=keys, ncol=8, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.12), frameon=False)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def label_jobs(axes, signals: dict, p: int, y: float, length: int) -> None:
    """Labels: the task where a job runs, and where a job was stopped and resumed."""
    for first, last, state in runs(signals[f"{p} state"]):
        if STATES[state] == "Busy" and last - first > length // 25:
            axes.text((first + last) / 2, y - 0.1, TASKS[signals[f"{p} task"][first]], ha="center", va="center",
                      fontsize=8, color="white")  # fmt: skip
        if STATES[state] == "Reconfig" and last - first > length // 40:
            axes.text((first + last) / 2, y - 0.1, TASKS[signals[f"{p} target"][first]], ha="center", va="center",
                      fontsize=7, color="white", rotation=90 if last - first < length // 18 else 0)  # fmt: skip
    for name, sign in (("saving", "saved"), ("restoring", "resumed")):
        for first, _, value in runs(signals[f"{p} {name}"]):
            if value:
                axes.annotate(sign, (first, y - 0.36), (first, y - 0.55), fontsize=7, ha="center",
                              arrowprops={"arrowstyle": "->", "linewidth": 0.6})  # fmt: skip


def wave(axes, values: list, y: float) -> None:
    """One signal: a line for a bit, a row of boxes for other values."""
    if all(value in (0, 1) for value in values):
        steps = [y + 0.6 * value for value in values]
        axes.step(range(len(values) + 1), [*steps, steps[-1]], where="post", color="black", linewidth=1)
        return
    for first, last, value in runs(values):
        axes.add_patch(mpl.patches.Rectangle((first + 0.08, y), last - first - 0.16, 0.6, fill=value is not None,
                                             facecolor="#e8eef7", edgecolor="black", linewidth=0.8))  # fmt: skip
        if value is not None and last - first >= 2:
            axes.text((first + last) / 2, y + 0.29, str(value), ha="center", va="center", fontsize=7)


def diagram(run: dict, path: Path, rows: list[tuple[str, list]], first: int, last: int) -> None:
    """Signals between two cycles, the clock on top."""
    last = min(last, len(run["signals"]["request"]))
    figure, axes = plt.subplots(figsize=(12, 0.42 * len(rows) + 0.9))
    clock = [edge for _ in range(first, last) for edge in (1, 0)]
    y0 = len(rows)
    axes.step([n / 2 for n in range(len(clock) + 1)], [y0 + 0.6 * edge for edge in [*clock, 0]], where="post",
              color="#888888", linewidth=0.8)  # fmt: skip
    for number, (_, values) in enumerate(rows):
        wave(axes, values[first:last], y0 - 1 - number)
    ticks = [y0 + 0.3, *(y0 - 0.7 - n for n in range(len(rows)))]
    axes.set_yticks(ticks, ["clk", *(name for name, _ in rows)], fontsize=8)
    axes.set_xlim(0, last - first)
    axes.set_ylim(-0.3, y0 + 0.9)
    axes.set_xlabel(f"cycles from {first}", fontsize=8)
    axes.grid(axis="x", color="#dddddd", linewidth=0.5)
    for side in ("top", "right", "left", "bottom"):
        axes.spines[side].set_visible(False)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def named(values: list, names) -> list:
    return [None if value is None else names[value] for value in values]


def region_rows(signals: dict, p: int, *names: str) -> list[tuple[str, list]]:
    state = (f"region {p}: state", named(signals[f"{p} state"], STATES))
    return [state, *((f"region {p}: {name}", signals[f"{p} {name}"]) for name in names)]


def first_where(values: list, wanted, since: int = 0) -> int:
    return next(at for at in range(since, len(values)) if values[at] == wanted)


def preempted(signals: dict) -> tuple[int, int]:
    """The first preempted region, and the cycle of the preemption."""
    return min((first_where(signals[f"{p} state"], 2), p) for p in range(3) if 2 in signals[f"{p} state"])[::-1]


def diagrams(run: dict, folder: Path) -> None:
    signals = run["signals"]
    methods = ("unavailable", "assign", "preempt")
    answer = ("monitor: answer", named(signals["answer"], methods))
    p, at = preempted(signals)
    monitor = [("request", signals["request"]), answer]
    interrupt = ("manager's interrupt", signals["irq manager"])
    diagram(run, folder / "preempt-request.png", [*monitor, *region_rows(signals, p, "connected")], at - 6, at + 10)
    saving = first_where(signals[f"{p} saving"], 1, at)
    rows = region_rows(signals, p, "quiet", "saving", "saved", "connected", "couple")
    diagram(run, folder / "preemption.png", [*rows, interrupt], saving - 12, saving + 16)
    begin = first_where(signals["request"], 1)
    region = next(p for p in range(3) if signals[f"{p} state"][begin + 3] != 0)
    ready = first_where(signals[f"{region} state"], 5, begin)
    diagram(run, folder / "allocation.png", [*monitor, *region_rows(signals, region, "couple")], begin - 3, begin + 12)
    held = first_where(signals[f"{region} connected"], 1, ready)
    rows = region_rows(signals, region, "connected", "begin", "raw outputs")
    diagram(run, folder / "start.png", rows, held - 6, held + 30)
    rows = [("word to the port", signals["cfg word"]), *region_rows(signals, p, "couple", "raw outputs",
            "gated outputs", "quiet"), interrupt]  # fmt: skip
    touched = first_where(signals["cfg word"], 1, saving)
    diagram(run, folder / "reconfiguration.png", rows, saving, touched + 10)
    ready = first_where(signals[f"{p} state"], 5, touched)
    diagram(run, folder / "configured.png", rows, ready - 14, ready + 12)


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    run = json.loads((BUILD / "demo" / "run.json").read_text(encoding="utf-8"))
    timeline(run, folder / "timeline.png")
    diagrams(run, folder)
    print(f"{folder}: " + ", ".join(sorted(path.name for path in folder.glob("*.png"))))


if __name__ == "__main__":
    main()
