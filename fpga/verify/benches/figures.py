# SPDX-License-Identifier: Apache-2.0
"""The fabric's figures: goals and published values (figures.tsv), measurements of benches, results of synthesis.

A bench calls `measured(metric, value)`, which records the value and fails the test if the value misses its goal. As a
program this file prints the figures with goals and published values, adds them to build/bench/results.jsonl, and plots
the sorter's sizes.
"""

import argparse
import json
import sys
from pathlib import Path

from rtl_tools import BUILD, FPGA, TOP

sys.path.insert(0, str(TOP / "tools"))
from tessera.bench.commit import current_commit
from tessera.bench.plot_shared import SIZES, plot_shared, whole_size
from tessera.bench.report import text_table, verdict
from tessera.fabric import synthesis

TABLE = FPGA / "figures.tsv"
NOTES = BUILD / "figures"
COLUMNS = ("metric", "unit", "better", "goal", "paper", "what", "source")
# The results of a block's synthesis, and their units. A path is the delay of its cells, without wires.
SYNTHESIZED = {"luts": "LUTs", "registers": "registers", "bram36": "BRAM36", "dsp": "DSP48", "path_ns": "ns"}
# Goals that are missed, for reasons that docs/hardware-io.md tells.
KNOWN_MISSES = {"fpga.io.size.16vm.luts"}
# MHz: the clock of the published figures, and one that leaves more than half of the period to wires.
CLOCKS = (100, 50)


def _number(text):
    return None if text == "-" else float(text)


def read_table(file=TABLE):
    """The rows of the table by metric."""
    lines = [line.split("\t") for line in file.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    assert tuple(lines[0]) == COLUMNS, f"{file}: header"
    found = {}
    for cells in lines[1:]:
        assert len(cells) == len(COLUMNS), f"{file}: {cells[0]}: {len(cells)} columns"
        assert cells[0] not in found, f"{file}: {cells[0]} is in the table twice"
        found[cells[0]] = dict(zip(COLUMNS, cells, strict=True))
    return found


def met(line, value):
    """Whether a value meets its goal; None without a goal."""
    goal = _number(line["goal"]) if line else None
    if goal is None:
        return None
    return value <= goal if line["better"] == "lower" else value >= goal


def measured(metric, value):
    """Records a value; fails when the value misses its goal. The metric must be in the table."""
    line = read_table()[metric]
    NOTES.mkdir(parents=True, exist_ok=True)
    (NOTES / f"{metric}.json").write_text(json.dumps(value), encoding="utf-8")
    assert met(line, value) is not False, f"{metric}: {value} {line['unit']}, the goal is {line['goal']}"


def _synthesized():
    """Figures from synthesis: (metric, unit, value, parameters)."""
    for found in synthesis.read().values():
        for name, unit in SYNTHESIZED.items():
            yield f"fpga.{found['block']}.{name}", unit, found[name], found["parameters"]


def _together(synthesized):
    """The sizes of all parts of the shared devices together."""
    values = {metric: value for metric, _, value, _ in synthesized}
    for vms in SIZES:
        for name in ("luts", "registers", "bram36"):
            value = whole_size(values, vms, name)
            if value is not None:
                yield f"fpga.io.size.{vms}vm.{name}", SYNTHESIZED[name], value, {"NumVms": vms}


def _record(metric, unit, value, line, config, commit):
    paper = _number(line["paper"]) if line else None
    return {
        "metric": metric, "unit": unit, "value": value, "min": value, "median": value, "max": value, "n": 1,
        "goal": _number(line["goal"]) if line else None, "met": met(line, value), "config": config,
        "commit": commit.name, "dirty": commit.dirty,
        "anchors": {} if paper is None else {"paper": paper},
        "anchor_source": line["source"] if paper is not None else None,
    }  # fmt: skip


def records():
    """All figures as objects of results.jsonl, those of the table first, in its order."""
    table, commit = read_table(), current_commit()
    found = []
    for metric, line in table.items():
        note = NOTES / f"{metric}.json"
        if note.is_file():
            value = json.loads(note.read_text(encoding="utf-8"))
            found.append(_record(metric, line["unit"], value, line, {"system": "verilator"}, commit))
    synthesized = list(_synthesized())
    for metric, unit, value, parameters in [*synthesized, *_together(synthesized)]:
        config = {"system": "yosys synth_xilinx -family xc7", "parameters": parameters}
        found.append(_record(metric, unit, value, table.get(metric), config, commit))
    return found


def in_ns(line, clock):
    """A figure in cycles as ns at a clock, in MHz; other units have none."""
    return f"{round(line['value'] * 1000 / clock, 1):,.10g}" if line["unit"] == "cycles" else ""


def rows(found):
    """The cells of the printed table."""
    table = read_table()
    out = [["metric", "unit", "goal", "measured", "", "paper", *(f"ns at {clock} MHz" for clock in CLOCKS)]]
    for line in found:
        paper = table.get(line["metric"], {}).get("paper", "-")
        goal = "" if line["goal"] is None else f"{line['goal']:,.10g}"
        out.append([line["metric"], line["unit"], goal, f"{line['value']:,.10g}", verdict(line["met"]),
                    "" if paper == "-" else f"{float(paper):,.10g}",
                    *(in_ns(line, clock) for clock in CLOCKS)])  # fmt: skip
    return out


def add_to_results(path, found):
    """Replaces the fabric's figures in results.jsonl and keeps the others."""
    old = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    kept = [line for line in old if not json.loads(line)["metric"].startswith(("fpga.", "cosim.", "soc."))]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in [*kept, *map(json.dumps, found)]), encoding="utf-8")


def plot_sorter(found, out):
    """LUTs, registers and longest path of the sorter over its depth, with the published sorter."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    sizes = {}
    for line in found:
        block, _, name = line["metric"].removeprefix("fpga.").rpartition(".")
        if block.startswith("sorter-"):
            sizes.setdefault(name, {})[int(block.removeprefix("sorter-"))] = line["value"]
    if not sizes:
        return
    figure, (area, path) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for name, colour, paper in (("luts", "tab:blue", 8910), ("registers", "tab:orange", 8352)):
        depths = sorted(sizes[name])
        area.plot(depths, [sizes[name][depth] for depth in depths], "o-", color=colour, label=SYNTHESIZED[name])
        area.axhline(paper, color=colour, linestyle=":", label=f"{SYNTHESIZED[name]}, tagged sorter of HyOS")
    area.set(xscale="log", yscale="log", xlabel="entries of 32 + 32 bits", ylabel="number")
    depths = sorted(sizes["path_ns"])
    path.plot(depths, [sizes["path_ns"][depth] for depth in depths], "o-", color="tab:green")
    path.set(
        xscale="log",
        xlabel="entries of 32 + 32 bits",
        ylabel="longest path, ns (yosys sta, cells only)",
        ylim=(0, None),
    )
    for axes in (area, path):
        axes.set_xticks(depths, map(str, depths))
        axes.minorticks_off()
        axes.grid(alpha=0.3)
    area.legend(fontsize=8)
    figure.suptitle("The sorter on a Kintex-7 by yosys")
    figure.savefig(out, dpi=110)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=TOP / "build" / "bench", help="folder for results (%(default)s)")
    out = parser.parse_args().out
    found = records()
    if not found:
        print("figures: none yet; `make bench-fpga` measures", file=sys.stderr)
        return 1
    add_to_results(out / "results.jsonl", found)
    plot_sorter(found, out / "sorter.png")
    plot_shared(found, out)
    print(text_table(rows(found)))
    missing = [metric for metric in read_table() if metric not in {line["metric"] for line in found}]
    for metric in missing:
        print(f"figures: not measured: {metric}", file=sys.stderr)
    print(f"figures: {len(found)} figures of the fabric in {out / 'results.jsonl'}")
    return 1 if missing or any(line["met"] is False and line["metric"] not in KNOWN_MISSES for line in found) else 0


if __name__ == "__main__":
    sys.exit(main())
