#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the pictures of docs/hardware-io.md from a run of the system hardware-io: the levels of two pins with the
frames on the wire, and the screen."""

import argparse
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

from tessera.colours import on_white
from tessera.run.machine import Machine
from tessera.run.recorded import CYCLE_NS, Trains, edges, frames
from tessera.run.runner import ROOT, BuiltSystem, RunError, find_qemu, load_system, system_command
from tessera.run.screen import frames_of, save_picture

PATIENCE_S = 900.0
PICTURE_US, LEAD_US = 60, 15  # what is drawn, from before the first edge of a train on
SCALE = 3  # of the screen's pixels
NS_BYTE = 10  # on the wire
WIRE_BYTES = 24  # beside a frame: preamble, FCS, gap
PULSE_PIN, FLOOD_PIN, FLOOD_MAC = 0, 16, bytes([2, 0, 0, 0, 0, 4])  # of the system file
LEVELS = {"0": 0.0, "z": 0.0, "1": 0.7}

Edges = list[tuple[int, str]]


def run(system: BuiltSystem, folder: Path) -> tuple[dict[str, Path], str]:
    """Runs the system until Linux has its file system. Returns its files, and what `pulse` printed."""
    files = {name: folder / name for name in ("pcap", "pins", "flash")} | {"screen": frames_of(folder / "screen.png")}
    files["flash"].unlink(missing_ok=True)
    with Machine(system_command(find_qemu(), system, **files), system.names, folder / "console.log") as machine:
        machine.expect("linux", r"linux:~# ", PATIENCE_S)
        machine.send("\x14q")
        machine.wait_until(lambda: not machine.running, PATIENCE_S)
        return files, machine.console.text("pulse")


def wrong_edges(found: Edges, asked: Trains) -> int:
    """Counts the edges that are not in the cycle for which they were asked."""
    return sum(edge != asked.edge(number) for number, edge in enumerate(found))


def draw_levels(axes: Any, row: int, found: Edges, start_us: float, colour: str) -> None:
    """Draws the levels of a pin around a section."""
    steps = [(time * CYCLE_NS / 1000 - start_us, LEVELS[level]) for time, level in found]
    inside = [(a, level) for (a, level), (b, _) in pairwise(steps) if b > 0 and a < PICTURE_US]
    inside.append((PICTURE_US, inside[-1][1]))  # to the right end
    axes.step([at for at, _ in inside], [row + level for _, level in inside], where="post", color=colour, linewidth=1.2)


def draw_frames(axes: Any, row: int, spans: list[tuple[float, float]], start_us: float, colour: str) -> None:
    """Draws frames on the wire, given by their end and their length in us."""
    bars = [(end - length - start_us, length) for end, length in spans if 0 < end - start_us < PICTURE_US + length]
    axes.broken_barh(bars, (row, 0.7), facecolors=colour, linewidth=0)


def frames_of_flood(file: Path) -> list[tuple[float, float]]:
    """Returns end and length of each frame of the VM `flood`, in us."""
    sent = [frame for frame in frames(file) if frame.source == FLOOD_MAC]
    return [(frame.ns / 1000, (len(frame.data) + WIRE_BYTES) * NS_BYTE / 1000) for frame in sent]


def asked_trains(said: str) -> Trains:
    asked = Trains.asked(said)
    if asked is None:
        raise RunError("io_pictures: the VM pulse has not printed when its edges are due")
    return asked


def busy_train(asked: Trains, flood: Edges, spans: list[tuple[float, float]]) -> int:
    """Returns the first train during which the pin and a frame of `flood` move from its begin to its end."""
    length = 2 * asked.pulses * asked.half
    moves = [time for time, _ in flood]
    for number in range((moves[-1] - asked.first) // asked.distance):
        begin, _ = asked.edge(2 * asked.pulses * number)
        pins = sum(begin <= time < begin + length for time in moves)
        if pins >= length // (4 * asked.half) and any(
            end - frame < begin * CYCLE_NS / 1000 < end for end, frame in spans
        ):
            return number
    raise RunError("io_pictures: no train of pulse is beside a burst of flood")


def finish_axes(axes: Any, asked_us: list[float]) -> None:
    for at in asked_us:
        axes.axvline(at, color="#b0b0b0", linewidth=0.6, linestyle=":", zorder=0)
    axes.set_yticks([0.35, 1.35, 2.35], ["flood: frames", "flood: pin 16", "pulse: pin 0"])
    axes.set_xlim(0, PICTURE_US)
    axes.set_ylim(-0.2, 3)
    axes.set_xlabel("us; dotted: the cycles for which pulse has asked, a microsecond each")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def draw_pins(system: BuiltSystem, files: dict[str, Path], said: str, picture: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    asked = asked_trains(said)
    levels = edges(files["pins"])
    pulse, flood = asked.recorded(levels[PULSE_PIN]), levels[FLOOD_PIN]
    spans = frames_of_flood(files["pcap"])
    colours = {name: on_white(system.vm(name)["colour"]) for name in ("pulse", "flood")}
    number = 2 * asked.pulses * busy_train(asked, flood, spans)
    start = asked.edge(number)[0] * CYCLE_NS / 1000 - LEAD_US
    figure, axes = pyplot.subplots(figsize=(9.5, 2.6))
    draw_levels(axes, 2, pulse, start, colours["pulse"])
    draw_levels(axes, 1, flood, start, colours["flood"])
    draw_frames(axes, 0, spans, start, colours["flood"])
    finish_axes(axes, [asked.edge(number + n)[0] * CYCLE_NS / 1000 - start for n in range(2 * asked.pulses)])
    wrong = wrong_edges(pulse, asked)
    axes.set_title(f"{len(pulse):,} edges of pulse while Linux boots, {wrong} of them in another cycle", fontsize=9)
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
