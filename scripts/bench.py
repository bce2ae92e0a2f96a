#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the costs of Tessera and prints them with the goals and the figures of other
hypervisors.

Writes results.jsonl (one object per line), results.md, overview.png and overview.svg,
adpcm-convergence.png, adpcm-vms.png, ipc.png and rt.png, and for the M5150 mips-adpcm-*.png,
mips-ipc.png and mips-banks.png. Without --qemu: QEMU=path if set, else the one in PATH and, if it
exists, the newer one in cache/qemu-new. Exit status 1: a measurement failed, or with --strict a
goal was not met.
"""

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Any

from tessera.bench import mips
from tessera.bench.collect import MEASUREMENTS, Bench
from tessera.bench.metrics import MetricsError, read_metrics
from tessera.bench.plot import plot
from tessera.bench.plot_adpcm import plot_adpcm
from tessera.bench.plot_banks import plot_banks
from tessera.bench.plot_ipc import plot_ipc
from tessera.bench.plot_rt import plot_rt
from tessera.bench.report import (
    current_commit,
    markdown,
    of_machine,
    record,
    record_mips,
    rows,
    text_table,
    write_results,
)
from tessera.run.runner import ROOT, Qemu, RunError, find_qemu

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


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--qemu", action="append", default=[], metavar="PATH", help="emulator; may be given twice")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "bench", help="folder for results (%(default)s)")
    known = [*MEASUREMENTS, *mips.MEASUREMENTS]
    parser.add_argument("--only", action="append", default=[], choices=known, help="measure only this")
    parser.add_argument("--strict", action="store_true", help="exit 1 when a goal is not met")
    return parser.parse_args()


def main() -> int:
    arguments = parse_arguments()
    try:
        metrics = read_metrics()
        qemus = chosen_qemus(arguments.qemu)
    except (MetricsError, RunError) as error:
        print(f"bench: error: {error}", file=sys.stderr)
        return 1
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
    plot(metrics, records, arguments.out)
    plot_adpcm(metrics, records, arguments.out)
    plot_ipc(metrics, records, arguments.out)
    plot_adpcm(metrics, mips_records, arguments.out, "mips-adpcm")
    plot_ipc(metrics, mips_records, arguments.out, "mips-ipc")
    plot_banks(mips_records, arguments.out)
    plot_rt(records, arguments.out)
    print(text_table(table))
    print()
    print(text_table(mips_table))
    for why in failed:
        print(f"bench: not measured: {why}", file=sys.stderr)
    records += mips_records
    print(f"bench: {len(records)} figures in {arguments.out / 'results.jsonl'}")
    missed = any(line["met"] is False for line in records)
    return 1 if failed or (arguments.strict and missed) else 0


if __name__ == "__main__":
    sys.exit(main())
