#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Says for which HW tasks, frame sizes and rates a reconfiguration is worth its time:
T_reconf + T_hw(n) < T_sw(n) (docs/accelerators.md#when-a-reconfiguration-is-worth-it).

Measures the tasks in software in a VM in QEMU (SYSTEM=soft-tasks), or takes them from a
results.jsonl. QEMU counts instructions, which --cpi converts to cycles. Writes break-even.tsv,
break-even.png, and for `make bench-record` results.jsonl, with the figures of whole frames.
"""

import argparse
import json
import os
import re
import sys
from collections.abc import Iterator
from math import isinf
from pathlib import Path
from typing import Any

from tessera.bench.collect import MEASUREMENTS, Bench
from tessera.bench.machine import BenchError
from tessera.bench.parse import ParseError
from tessera.bench.plot_break_even import plot_break_even
from tessera.bench.published import record, write_results
from tessera.fabric.break_even import REGIONS, BreakEvenError, Case, Machine, Task, cases, read_tasks
from tessera.run.runner import ROOT, RunError, find_qemu

TASKS = ROOT / "tools" / "break-even.tsv"
FIGURES = ROOT / "build" / "fpga" / "figures"
_SOFT = re.compile(r"vdm\.soft\.(\w+)\.(\d+)")
HEADER = ("task", "bytes", "T_sw us", "T_hw us", *(f"frames, region {region}" for region in REGIONS))


def measure(out: Path) -> dict[str, float]:
    bench = Bench(find_qemu(os.environ.get("QEMU") or "qemu-system-riscv64"), out)
    MEASUREMENTS["soft-tasks"](bench)
    return {taken.figure.metric: taken.figure.min for taken in bench.taken}


def read_results(path: Path) -> dict[str, float]:
    lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {line["metric"]: line["value"] for line in lines}


def software(figures: dict[str, float]) -> dict[tuple[str, int], float]:
    found = [(_SOFT.fullmatch(metric), value) for metric, value in figures.items()]
    return {(match[1], int(match[2])): value for match, value in found if match}


def shown(number: float) -> str:
    return "never" if isinf(number) else f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def table(by_region: list[list[Case]]) -> list[list[str]]:
    """The cases of all regions, one line for a task and a size."""
    return [
        [first.task, str(first.size), f"{first.soft:.1f}", f"{first.hard:.1f}", *(shown(case.frames) for case in row)]
        for row in zip(*by_region, strict=True)
        for first in row[:1]
    ]


def rates(found: list[Case], tasks: list[Task], swaps: float) -> list[list[str]]:
    """For whole frames: the rates above which `swaps` configurations a second are worth it, and the highest."""
    frames = {task.name: task.size for task in tasks}
    chosen = [case for case in found if frames[case.task] == case.size]
    return [[case.task, shown(case.least_rate(swaps)), *map(shown, case.most_rates(swaps))] for case in chosen]


def records(by_region: list[list[Case]], tasks: list[Task], region: int, swaps: float) -> Iterator[dict[str, Any]]:
    """For whole frames: both times, the frames that are worth it in each region, and the rates in one of them."""
    sizes = {task.name: task.size for task in tasks}
    for row in zip(*by_region, strict=True):
        case, name = row[region], f"break_even.{row[0].task}"
        if sizes[case.task] != case.size:
            continue
        yield record(f"{name}.software", None, "us", [case.soft])
        yield record(f"{name}.hardware", None, "us", [case.hard])
        for number, other in enumerate(row):
            yield record(f"{name}.frames.{number}", None, "frames", [other.frames])
        rates_of = {"least": case.least_rate(swaps)} | dict(
            zip(("most_software", "most_hardware"), case.most_rates(swaps), strict=True)
        )
        for what, rate in rates_of.items():
            yield record(f"{name}.{what}", None, "1/s", [rate])


def print_table(header: tuple[str, ...], lines: list[list[str]]) -> None:
    widths = [max(len(row[column]) for row in [list(header), *lines]) for column in range(len(header))]
    for row in [list(header), *lines]:
        print("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)))
    print()


def parse_arguments() -> argparse.Namespace:
    default = Machine()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, metavar="FILE", help="a results.jsonl with vdm.soft.*; measure nothing")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "break-even", help="folder (%(default)s)")
    parser.add_argument("--cpu-mhz", type=float, default=default.cpu_mhz, help="clock of the CPU (%(default)s)")
    parser.add_argument("--cpi", type=float, default=default.cpi, help="cycles for an instruction (%(default)s)")
    parser.add_argument(
        "--fabric-mhz", type=float, default=default.fabric_mhz, help="clock of the fabric (%(default)s)"
    )
    parser.add_argument("--manager", type=float, default=default.manager, help="instructions of path 2 (%(default)s)")
    parser.add_argument("--verify", action="store_true", help="the bitstream is verified before it is written")
    parser.add_argument(
        "--region", type=int, choices=REGIONS, default=0, help="of the rates and the plot (%(default)s)"
    )
    parser.add_argument("--swaps", type=float, default=100.0, help="configurations a second, for rates (%(default)s)")
    arguments = parser.parse_args()
    if min(arguments.cpu_mhz, arguments.cpi, arguments.fabric_mhz) <= 0 or min(arguments.manager, arguments.swaps) < 0:
        parser.error("clocks and --cpi have to be above 0, --manager and --swaps at least 0")
    return arguments


def run(arguments: argparse.Namespace) -> None:
    arguments.out.mkdir(parents=True, exist_ok=True)
    words = 2.0 if arguments.verify else 1.0
    machine = Machine(arguments.cpu_mhz, arguments.cpi, arguments.fabric_mhz, arguments.manager, words)
    tasks = read_tasks(TASKS, FIGURES)
    times = software(read_results(arguments.results) if arguments.results else measure(arguments.out))
    by_region = [cases(tasks, times, machine, region) for region in REGIONS]
    lines = table(by_region)
    reconf = ", ".join(f"{region}: {machine.reconfiguration_us(region):.1f}" for region in REGIONS)
    print(f"CPU {machine.cpu_mhz:g} MHz, {machine.cpi:g} cycles an instruction; fabric {machine.fabric_mhz:g} MHz")
    print(f"T_reconf of regions in us: {reconf}. Worth it from so many frames for a reconfiguration:\n")
    print_table(HEADER, lines)
    chosen = by_region[arguments.region]
    print(f"Region {arguments.region}, {arguments.swaps:g} reconfigurations a second, frames a second:\n")
    print_table(("task", "worth above", "software up to", "hardware up to"), rates(chosen, tasks, arguments.swaps))
    text = "\n".join("\t".join(row) for row in [list(HEADER), *lines])
    (arguments.out / "break-even.tsv").write_text(text + "\n", encoding="utf-8")
    write_results(arguments.out / "results.jsonl", records(by_region, tasks, arguments.region, arguments.swaps))
    print(plot_break_even(tasks, chosen, arguments.out))


def main() -> int:
    try:
        run(parse_arguments())
    except (BenchError, BreakEvenError, OSError, ParseError, RunError, ValueError) as error:
        print(f"break-even: error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
