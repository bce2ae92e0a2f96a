#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the costs of Tessera and prints them with the goals and the figures of other
hypervisors.

Writes results.jsonl (one object per line), results.md, and the pictures of what was measured:
shared-*.png (with --draw, after `make bench-fpga`),
overview, goals (.png and .svg), adpcm-convergence.png, adpcm-vms.png, ipc.png, rt.png,
thread-metric.png and response.png, and for the M5150 mips-overview, mips-goals, mips-adpcm-*.png, mips-ipc.png and
mips-banks.png. Without --qemu: QEMU=path if set, else the one in PATH and, if it exists, the newer
one in cache/qemu-new. Exit status 1: a measurement failed, or with --strict a goal was not met.
"""

import argparse
import json
import os
import shutil
import sys
import time
from pathlib import Path
from typing import Any

from tessera.bench import mips
from tessera.bench.collect import MEASUREMENTS, Bench
from tessera.bench.commit import current_commit
from tessera.bench.metrics import Metric, MetricsError, read_metrics
from tessera.bench.plot import plot
from tessera.bench.plot_adpcm import plot_adpcm
from tessera.bench.plot_banks import plot_banks
from tessera.bench.plot_ipc import plot_ipc
from tessera.bench.plot_overlay import plot_overlay
from tessera.bench.plot_response import plot_response
from tessera.bench.plot_rt import plot_rt
from tessera.bench.plot_rt_queue import plot_rt_queue
from tessera.bench.plot_shared import plot_shared
from tessera.bench.plot_thread_metric import plot_thread_metric
from tessera.bench.published import write_results
from tessera.bench.report import (
    markdown,
    of_machine,
    record,
    record_mips,
    rows,
    text_table,
)
from tessera.run.runner import ROOT, Qemu, RunError, find_qemu

DOCUMENTED = {"overview.png": "bench.png", "mips-overview.png": "mips-bench.png"}  # names in docs/images
NEWER_QEMU = ROOT / "cache" / "qemu-new" / "qemu-system-riscv64"


def chosen_qemus(programs: list[str]) -> list[Qemu]:
    """Returns the emulators to measure with, each version once."""
    if not programs:
        newer = [str(NEWER_QEMU)] if NEWER_QEMU.is_file() and not os.environ.get("QEMU") else []
        programs = [os.environ.get("QEMU") or "qemu-system-riscv64", *newer]
    found = {qemu.version: qemu for qemu in map(find_qemu, programs)}
    return list(found.values())


def measure(qemu: Qemu, out: Path, only: list[str]) -> Bench:
    """Runs all measurements with one emulator."""
    bench = Bench(qemu, out)
    version = ".".join(map(str, qemu.version))
    for name, measurement in MEASUREMENTS.items():
        if only and name not in only:
            continue
        begin = time.monotonic()
        print(f"bench: QEMU {version}: {name} ...", end="", file=sys.stderr, flush=True)
        with bench.attempt(f"QEMU {version}: {name}"):
            measurement(bench)
        print(f" {time.monotonic() - begin:.1f} s", file=sys.stderr, flush=True)
    return bench


def measure_mips(out: Path, only: list[str]) -> mips.MipsBench:
    """Runs all measurements on the M5150."""
    bench = mips.MipsBench(out)
    for name, measurement in mips.MEASUREMENTS.items():
        if only and name not in only:
            continue
        begin = time.monotonic()
        print(f"bench: iasim: {name} ...", end="", file=sys.stderr, flush=True)
        with bench.attempt(f"iasim: {name}"):
            measurement(bench)
        print(f" {time.monotonic() - begin:.1f} s", file=sys.stderr, flush=True)
    return bench


def draw(metrics: dict[str, Metric], records: list[dict[str, Any]], out: Path) -> list[Path]:
    """Draws all pictures of a run's records into `out`; returns their paths."""
    on_qemu = [line for line in records if "qemu" in line["config"]]
    on_iasim = [line for line in records if "qemu" not in line["config"]]
    return [
        *plot(metrics, on_qemu, out),
        *plot_adpcm(metrics, on_qemu, out),
        *plot_ipc(metrics, on_qemu, out),
        *plot_rt(on_qemu, out),
        *plot(metrics, on_iasim, out, "mips-"),
        *plot_adpcm(metrics, on_iasim, out, "mips-adpcm"),
        *plot_ipc(metrics, on_iasim, out, "mips-ipc"),
        *plot_banks(on_iasim, out),
        *plot_thread_metric(metrics, records, out),
        *plot_response(metrics, records, out),
        *plot_overlay(on_qemu, out),
        *plot_rt_queue(on_qemu, out),
        *plot_shared(records, out),
    ]


def redraw(metrics: dict[str, Metric], out: Path, pictures: Path | None) -> int:
    """Draws the pictures of the run in `out`, and copies those that `pictures` has."""
    try:
        lines = (out / "results.jsonl").read_text(encoding="utf-8").splitlines()
    except OSError as error:
        print(f"bench: error: {error} (run `make bench`)", file=sys.stderr)
        return 1
    for path in draw(metrics, [json.loads(line) for line in lines], out):
        target = pictures / DOCUMENTED.get(path.name, path.name) if pictures else None
        copied = target is not None and target.is_file()
        if target is not None and copied:
            shutil.copyfile(path, target)
        print(f"bench: {path}" + (f", {target}" if copied else ""))
    return 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--qemu", action="append", default=[], metavar="PATH", help="emulator; may be given twice")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "bench", help="folder for results (%(default)s)")
    known = [*MEASUREMENTS, *mips.MEASUREMENTS]
    parser.add_argument("--only", action="append", default=[], choices=known, help="measure only this")
    parser.add_argument("--strict", action="store_true", help="exit 1 when a goal is not met")
    parser.add_argument("--draw", action="store_true", help="measure nothing: draw the pictures of --out again")
    parser.add_argument(
        "--pictures", type=Path, metavar="FOLDER", help="with --draw: update the pictures in FOLDER, too"
    )
    return parser.parse_args()


def run(arguments: argparse.Namespace, metrics: dict[str, Metric], qemus: list[Qemu]) -> int:
    """Measures with all emulators, writes and prints the results. Returns the exit status."""
    arguments.out.mkdir(parents=True, exist_ok=True)
    commit = current_commit()
    records: list[dict[str, Any]] = []
    failed: list[str] = []
    for qemu in qemus:
        bench = measure(qemu, arguments.out, arguments.only)
        records += [record(taken, metrics.get(taken.figure.metric), qemu, commit) for taken in bench.taken]
        failed += bench.failed
    table = rows(of_machine(metrics, mips=False), records)
    on_mips = measure_mips(arguments.out, arguments.only)
    failed += on_mips.failed
    mips_records = [record_mips(taken, metrics.get(taken.figure.metric), commit) for taken in on_mips.taken]
    mips_table = rows(of_machine(metrics, mips=True), mips_records)
    write_results(arguments.out / "results.jsonl", [*records, *mips_records])
    (arguments.out / "results.md").write_text(markdown([table, mips_table], metrics, commit, failed), encoding="utf-8")
    draw(metrics, [*records, *mips_records], arguments.out)
    print(text_table(table))
    print()
    print(text_table(mips_table))
    for why in failed:
        print(f"bench: not measured: {why}", file=sys.stderr)
    records += mips_records
    print(f"bench: {len(records)} figures in {arguments.out / 'results.jsonl'}")
    missed = any(line["met"] is False for line in records)
    return 1 if failed or (arguments.strict and missed) else 0


def main() -> int:
    arguments = parse_arguments()
    try:
        metrics = read_metrics()
        if arguments.draw:
            return redraw(metrics, arguments.out, arguments.pictures)
        return run(arguments, metrics, chosen_qemus(arguments.qemu))
    except (MetricsError, RunError) as error:
        print(f"bench: error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
