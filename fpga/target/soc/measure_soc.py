# SPDX-License-Identifier: Apache-2.0
"""
Prints the cycles of the SoC's test program at several latencies of DRAM, and writes them to build/soc/results.jsonl
with the cycles of the paths, and with what the model predicts from the instructions of docs/figures.tsv. A core of
CVA6_DIR runs with its own data cache only.

A figure's machine is the latency and the data cache: soc.cost.text.warm@latency-10, soc.cost.text.warm@write-back-10.
"""

import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import costs
import sources
from program import BUILD, MODEL, Report, run
from rtl_tools import TOP

from tessera.bench.published import read, record, write_results
from tessera.bench.report import text_table

LATENCIES = (1, 10, 30)
WRITE_BACK = "write-back"
FITTED = (1, 10)  # latencies to which the model is fitted, without NOT_FITTED
NOT_FITTED = "text"
RESULTS = BUILD / "results.jsonl"
FIGURES = TOP / "docs" / "figures.tsv"

# The hypervisor's paths whose cycles are predicted: the counted instructions. As in the SoC's path `interrupt`, a store
# for so many instructions, and so many misses for each when the caches are empty.
PREDICTED = (
    "riscv.hypercall.null",
    "riscv.switch.quantum",
    "riscv.ipc.send.100",
    "riscv.ipc.recv.100",
    "riscv.ipc.delivery.100",
    "riscv.rt.release.max",
)
STORES = 1 / 5
MISSES = 0.41


def table(reports: dict[int, Report]) -> str:
    """The figures that all runs have."""
    names = [name for name in reports[1].cycles if all(name in report.cycles for report in reports.values())]
    head = [f"cycles ({MODEL})", *(f"latency {latency}" for latency in reports)]
    return text_table([head, *([name, *(str(report.worst(name)) for report in reports.values())] for name in names)])


def records_of_cycles(report: Report, machine: str) -> Iterator[dict[str, Any]]:
    for name, cycles in report.cycles.items():
        yield record(f"soc.cycles.{name}", machine, "cycles", cycles)


def records_of_paths(report: Report, machine: str) -> Iterator[dict[str, Any]]:
    for path in report.paths:
        metric = f"soc.cost.{path.name}.{'cold' if path.cold else 'warm'}"
        yield record(metric, machine, "cycles", [path.cycles])
        for what in ("instructions", "misses", "stores"):
            yield record(f"{metric}.{what}", machine, what, [getattr(path, what)])


def records_of_parts(model: costs.Model, report: Report, latency: int) -> Iterator[dict[str, Any]]:
    """What the model predicts for the measured paths, and what that consists of."""
    for path in report.paths:
        metric = f"soc.model.{path.name}.{'cold' if path.cold else 'warm'}"
        yield record(metric, f"latency-{latency}", "cycles", [model.cycles(path, latency)])
        for name, cycles in model.parts(path, latency, write_back=False).items():
            yield record(f"{metric}.{name}", f"latency-{latency}", "cycles", [cycles])


def records_of_model(
    model: costs.Model, through: dict[int, Report], back: dict[int, Report]
) -> Iterator[dict[str, Any]]:
    """The constants, and the largest errors in percent: of latency 30, and of the paths of memory behind write-back."""
    for name, value in asdict(model).items():
        yield record(f"soc.model.constant.{name}", None, "cycles", [value])
    yield record(
        "soc.model.error", "latency-30", "percent", [100 * abs(model.error(path, 30)) for path in through[30].paths]
    )
    for latency, report in back.items():
        memory = [path for path in report.paths if not path.synchronizes]
        errors = [100 * abs(model.error(path, latency, write_back=True)) for path in memory]
        yield record("soc.model.error", f"{WRITE_BACK}-{latency}", "percent", errors)


def records_of_predictions(model: costs.Model, latency: int) -> Iterator[dict[str, Any]]:
    """
    Of the hypervisor's paths: warm with all stores hidden (min), warm with none hidden (median), cold (max). With
    privileged operations (soc.predicted.privileged): the two warm ones.
    """
    known = read(FIGURES)
    for metric in PREDICTED:
        count = known[f"{metric}@7.2"].values["value"]
        hidden = model.instruction * count
        waited = hidden + count * STORES * (latency + model.store)
        cold = hidden + count * MISSES * (latency + model.miss)
        predicted = metric.replace("riscv", "soc.predicted", 1)
        yield record(predicted, f"latency-{latency}", "cycles", [hidden, waited, cold])
        if metric in costs.PRIVILEGED:
            more = costs.PRIVILEGED[metric].cycles(model.instruction, latency)
            predicted = metric.replace("riscv", "soc.predicted.privileged", 1)
            yield record(predicted, f"latency-{latency}", "cycles", [hidden + more, waited + more])


def fitted(reports: dict[int, Report]) -> costs.Model:
    return costs.fit({n: [path for path in reports[n].paths if path.name != NOT_FITTED] for n in FITTED})


def records(through: dict[int, Report], back: dict[int, Report]) -> Iterator[dict[str, Any]]:
    model = fitted(through)
    yield from records_of_model(model, through, back)
    for latency, report in through.items():
        yield from records_of_cycles(report, f"latency-{latency}")
        yield from records_of_paths(report, f"latency-{latency}")
        yield from records_of_parts(model, report, latency)
        yield from records_of_predictions(model, latency)
    for latency, report in back.items():
        yield from records_of_cycles(report, f"{WRITE_BACK}-{latency}")
        yield from records_of_paths(report, f"{WRITE_BACK}-{latency}")


def main() -> int:
    through = {latency: run(latency=latency) for latency in LATENCIES}
    back = {} if sources.checkout() else {latency: run(latency=latency, model=WRITE_BACK) for latency in LATENCIES}
    print(table(through))
    found = list(records(through, back))
    write_results(RESULTS, found)
    print(f"bench-soc: {len(found)} figures in {RESULTS.relative_to(TOP)}")
    for latency, report in through.items():
        for line in report.wrong:
            print(f"latency {latency}: wrong: {line}", file=sys.stderr)
    return max(report.code for report in through.values())


if __name__ == "__main__":
    sys.exit(main())
