#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a system with trace memory in QEMU, and writes the timeline of its harts as a Perfetto trace
and as pictures.

QEMU=path selects another QEMU; CPU=flags adds flags of its processor.
"""

import argparse
import sys
from pathlib import Path

from tessera.run.cosim import fabric_arguments, options_from_environment
from tessera.run.runner import ROOT, BuiltSystem, RunError, find_qemu, load_system, need_qemu
from tessera.trace.fabric import read_regions
from tessera.trace.model import Timeline, timeline
from tessera.trace.names import names_of
from tessera.trace.perfetto import perfetto_trace
from tessera.trace.plot import plot
from tessera.trace.ring import TraceError
from tessera.trace.take import COUNTED, take


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--system", default="demo", help="name of the built system (%(default)s)")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="folder of the build (%(default)s)")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "trace", help="folder to write to (%(default)s)")
    when = parser.add_mutually_exclusive_group()
    when.add_argument("--seconds", type=float, help="run until the machine's clock reaches this time")
    when.add_argument("--until", metavar="TEXT", help="run until a VM prints this; default: until all signs of life")
    parser.add_argument("--patience", type=float, default=300, help="seconds of real time (%(default)s)")
    parser.add_argument(
        "--icount",
        action=argparse.BooleanOptionalAction,
        help="virtual time: an instruction takes one nanosecond, and every run is identical; otherwise real time "
        "(default: only with one hart, as several harts are slow)",
    )
    parser.add_argument(
        "--fabric", action="store_true", help="add the fabric's RTL to the machine, and its regions to the trace"
    )
    parser.add_argument("--from-ms", type=float, help="start of the picture (default: the end of the trace)")
    parser.add_argument("--picture-ms", type=float, default=20, help="length of the picture (%(default)s)")
    return parser.parse_args()


def window(line: Timeline, from_ms: float | None, length_ms: float) -> tuple[int, int]:
    """Returns start and end of the picture, in nanoseconds."""
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
    words = [*COUNTED] if counted else []
    qemu = find_qemu()
    arguments.out.mkdir(parents=True, exist_ok=True)
    changes = arguments.out / f"{system.name}.regions"
    if arguments.fabric:
        words += fabric_arguments(qemu, options=options_from_environment(trace=changes))
    rings = take(qemu, system, arguments.seconds, arguments.until, arguments.patience, *words)
    line = timeline(rings, system.data["timebase_hz"])
    names = names_of(system)
    regions = read_regions(changes) if arguments.fabric else {}
    trace = arguments.out / f"{system.name}.perfetto-trace"
    trace.write_bytes(perfetto_trace(line, names, regions))
    pictures = [arguments.out / f"{system.name}{suffix}" for suffix in (".png", ".svg")]
    plot(line, names, *window(line, arguments.from_ms, arguments.picture_ms), pictures, regions)
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
