#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a system that has trace memory in QEMU, and writes what its harts did as a Perfetto trace and as pictures.

QEMU=path names another QEMU; CPU=flags adds to its processor.
"""

import argparse
import sys
from pathlib import Path

from tessera.run.runner import ROOT, BuiltSystem, RunError, find_qemu, load_system, need_qemu
from tessera.trace.model import Timeline, timeline
from tessera.trace.perfetto import Names, perfetto_trace
from tessera.trace.plot import plot
from tessera.trace.ring import TraceError
from tessera.trace.take import COUNTED, take


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--system", default="demo", help="name of the built system (%(default)s)")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="where it was built (%(default)s)")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "trace", help="folder to write to (%(default)s)")
    when = parser.add_mutually_exclusive_group()
    when.add_argument("--seconds", type=float, help="run until the machine's clock shows this")
    when.add_argument("--until", metavar="TEXT", help="run until a VM says this; else until all VMs are alive")
    parser.add_argument("--patience", type=float, default=300, help="seconds of real time (%(default)s)")
    parser.add_argument(
        "--icount",
        action=argparse.BooleanOptionalAction,
        help="an instruction takes a nanosecond, and every run is the same; else the time of this machine (by default "
        "with one hart: several take long)",
    )
    parser.add_argument("--from-ms", type=float, help="where the picture begins; else so that it shows the end")
    parser.add_argument("--picture-ms", type=float, default=20, help="how much the picture shows (%(default)s)")
    return parser.parse_args()


def window(line: Timeline, from_ms: float | None, length_ms: float) -> tuple[int, int]:
    """What the picture shows, in nanoseconds."""
    length = int(length_ms * 1e6)
    start = max(line.start, line.end - length) if from_ms is None else int(from_ms * 1e6)
    return start, min(start + length, line.end)


def summary(system: BuiltSystem, line: Timeline) -> str:
    exits = sum(len(hart.exits) for hart in line.harts)
    jobs = [job for own in line.jobs.values() for job in own]
    words = f"{(line.end - line.start) / 1e6:.1f} ms up to {line.end / 1e9:.6f} s, {exits} exits"
    if jobs:
        words += f", {len(jobs)} jobs of {len(line.jobs)} RT apps, {sum(job.missed for job in jobs)} missed"
    return f"trace: {system.name}: {words}" + (f"; {line.lost} older events were overwritten" if line.lost else "")


def run(arguments: argparse.Namespace) -> None:
    system = load_system(arguments.system, arguments.build)
    need_qemu(system, "trace")
    counted = system.data["harts"] == 1 if arguments.icount is None else arguments.icount
    words = COUNTED if counted else ()
    rings = take(find_qemu(), system, arguments.seconds, arguments.until, arguments.patience, *words)
    line = timeline(rings, system.data["timebase_hz"])
    names = Names(system.name, system.names, [vm["vcpus"] for vm in system.vms])
    arguments.out.mkdir(parents=True, exist_ok=True)
    trace = arguments.out / f"{system.name}.perfetto-trace"
    trace.write_bytes(perfetto_trace(line, names))
    pictures = [arguments.out / f"{system.name}{suffix}" for suffix in (".png", ".svg")]
    plot(line, names, *window(line, arguments.from_ms, arguments.picture_ms), pictures)
    print(summary(system, line))
    print(f"trace: {trace} (open it in ui.perfetto.dev), {', '.join(map(str, pictures))}")


def main() -> int:
    try:
        run(parse_arguments())
    except (RunError, TraceError) as error:
        print(f"trace: error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
