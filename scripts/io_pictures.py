#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the pictures of docs/hardware-io.md from a run of the system hardware-io: the levels of two pins with the
frames on the wire, and the screen."""

import argparse
import re
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

from tessera.colours import on_white
from tessera.run.machine import Machine
from tessera.run.recorded import CYCLE_NS, edges, frames
from tessera.run.runner import ROOT, BuiltSystem, RunError, find_qemu, load_system, system_command
from tessera.run.screen import frames_of, save_picture

PATIENCE_S = 300.0
PICTURE_US, BEGIN_US = 60, 10_000  # what is drawn, from the first edge on
SCALE = 3  # of the screen's pixels
NS_BYTE = 10  # on the wire
WIRE_BYTES = 24  # beside a frame: preamble, FCS, gap
PULSE_PIN, FLOOD_PIN, FLOOD_MAC = 0, 16, bytes([2, 0, 0, 0, 0, 4])  # of the system file
LEVELS = {"0": 0.0, "z": 0.0, "1": 0.7}
NUMBER = re.compile(r"edges every (\d+) cycles from cycle (\d+)")

Edges = list[tuple[int, str]]


def run(system: BuiltSystem, folder: Path) -> tuple[dict[str, Path], str]:
    """Runs the system until a VM has drawn some frames. Returns its files, and what `pulse` printed."""
    files = {name: folder / name for name in ("pcap", "pins", "flash")} | {"screen": frames_of(folder / "screen.png")}
    files["flash"].unlink(missing_ok=True)
    with Machine(system_command(find_qemu(), system, **files), system.names, folder / "console.log") as machine:
        machine.expect("wave", r"draw: frame 6, ", PATIENCE_S)
        machine.send("\x14q")
        machine.wait_until(lambda: not machine.running, PATIENCE_S)
        return files, machine.console.text("pulse")


def wrong_edges(found: Edges, first: int, half: int) -> int:
    """Counts the edges that are not in the cycle for which they were asked."""
    return sum(time != first + half * number for number, (time, _) in enumerate(found))


def draw_levels(axes: Any, row: int, found: Edges, start_us: float, colour: str) -> None:
    """Draws the levels of a pin around a section."""
    steps = [(time * CYCLE_NS / 1000 - start_us, LEVELS[level]) for time, level in found]
    inside = [(a, level) for (a, level), (b, _) in pairwise(steps) if b > 0 and a < 2 * PICTURE_US]  # to the right end
    axes.step([at for at, _ in inside], [row + level for _, level in inside], where="post", color=colour, linewidth=1.2)


def draw_frames(axes: Any, row: int, spans: list[tuple[float, float]], start_us: float, colour: str) -> None:
    """Draws frames on the wire, given by their end and their length in us."""
    bars = [(end - length - start_us, length) for end, length in spans if 0 < end - start_us < PICTURE_US + length]
    axes.broken_barh(bars, (row, 0.7), facecolors=colour, linewidth=0)


def frames_of_flood(file: Path) -> list[tuple[float, float]]:
    """Returns end and length of each frame of the VM `flood`, in us."""
    sent = [frame for frame in frames(file) if frame.source == FLOOD_MAC]
    return [(frame.ns / 1000, (len(frame.data) + WIRE_BYTES) * NS_BYTE / 1000) for frame in sent]


def asked_edges(said: str) -> tuple[int, int]:
    """Returns the cycles from one edge to the next, and that of the first one, as `pulse` has printed them."""
    asked = NUMBER.search(said)
    if asked is None:
        raise RunError("io_pictures: the VM pulse has not printed when its edges are due")
    return int(asked[1]), int(asked[2])


def finish_axes(axes: Any, period_us: float) -> None:
    at = period_us / 2
    while at < PICTURE_US:
        axes.axvline(at, color="#b0b0b0", linewidth=0.6, linestyle=":", zorder=0)
        at += period_us
    axes.set_yticks([0.35, 1.35, 2.35], ["flood: frames", "flood: pin 16", "pulse: pin 0"])
    axes.set_xlim(0, PICTURE_US)
    axes.set_ylim(-0.2, 3)
    axes.set_xlabel("us; dotted: the cycles for which pulse has asked")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def draw_pins(system: BuiltSystem, files: dict[str, Path], said: str, picture: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    half, first = asked_edges(said)
    levels = edges(files["pins"])
    pulse = [edge for edge in levels[PULSE_PIN] if edge[0] >= first and edge[1] != "z"]
    colours = {name: on_white(system.vm(name)["colour"]) for name in ("pulse", "flood")}
    start = first * CYCLE_NS / 1000 + BEGIN_US - half * CYCLE_NS / 2000
    figure, axes = pyplot.subplots(figsize=(9.5, 2.6))
    draw_levels(axes, 2, pulse, start, colours["pulse"])
    draw_levels(axes, 1, levels[FLOOD_PIN], start, colours["flood"])
    draw_frames(axes, 0, frames_of_flood(files["pcap"]), start, colours["flood"])
    finish_axes(axes, half * CYCLE_NS / 1000)
    wrong = wrong_edges(pulse, first, half)
    axes.set_title(f"{len(pulse):,} edges of pulse in this run, {wrong} of them in another cycle", fontsize=9)
    figure.tight_layout()
    figure.savefig(picture, dpi=110)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--out", type=Path, default=ROOT / "docs" / "images", help="folder of the pictures (%(default)s)"
    )
    out = parser.parse_args().out
    try:
        system = load_system("hardware-io")
        folder = ROOT / "build" / "pictures"
        folder.mkdir(parents=True, exist_ok=True)
        files, said = run(system, folder)
        draw_pins(system, files, said, out / "hardware-io-pins.png")
        if not save_picture(folder / "screen.png", SCALE):
            raise RunError("io_pictures: no frame was sent to the screen")
        (folder / "screen.png").replace(out / "hardware-io-screen.png")
    except RunError as error:
        print(f"io_pictures: error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
