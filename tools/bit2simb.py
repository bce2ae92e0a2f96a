# SPDX-License-Identifier: Apache-2.0
"""
Makes bitstreams for the fabric out of Vivado's: `bit2simb.py FOLDER --out FOLDER` reads partial/<task>-<region>.bin of
fpga/target/genesys2/dfx.tcl (or .bit) and writes <task>-<region>.bin with the header that the fabric expects.

All bitstreams of a region write the same frames; `frames.json` in the output lists these.
"""

import argparse
import json
import re
import struct
import sys
from pathlib import Path

from tessera.fabric import bitstream, series7

_NAME = re.compile(r"([1-9]\d{0,2})-([0-7])\.(bin|bit)")


def convert(data: bytes, region: int, task: int) -> tuple[bytes, list[series7.Frames]]:
    """
    Returns the fabric's bitstream with the words of Vivado's, and the frames that it writes. The fabric reads words
    with the lowest byte first and sends them to the ICAP, which reverses the bits of each byte (icap.sv).
    """
    partial = series7.read(data)
    words = list(partial.words)
    # With header and checksums the size is a multiple of STEP. The device ignores what follows DESYNC.
    while (len(words) * series7.WORD + bitstream.OVERHEAD) % bitstream.STEP:
        words.append(series7.NOP)
    return bitstream.wrap(region, task, struct.pack(f"<{len(words)}I", *words)), partial.frames


def sources(folder: Path) -> dict[tuple[int, int], Path]:
    """Vivado's files by task and region; .bin before .bit. Raises ValueError for other names, and if there are none."""
    found: dict[tuple[int, int], Path] = {}
    for path in sorted(folder.glob("*.bi[nt]"), reverse=True):
        match = _NAME.fullmatch(path.name)
        if match is None or int(match[1]) > 255:
            raise ValueError(f"{path}: expected <task>-<region>.bin with a task from 1 to 255 and a region from 0 to 7")
        found[int(match[1]), int(match[2])] = path
    if not found:
        raise ValueError(f"{folder}: expected files <task>-<region>.bin or .bit, found none")
    return found


def convert_all(folder: Path, out: Path) -> dict[int, list[series7.Frames]]:
    """Converts all files of a folder; returns the frames of each region. Raises ValueError, which names the file."""
    frames: dict[int, list[series7.Frames]] = {}
    out.mkdir(parents=True, exist_ok=True)
    for (task, region), path in sorted(sources(folder).items()):
        try:
            data, written = convert(path.read_bytes(), region, task)
        except series7.Series7Error as error:
            raise ValueError(f"{path}: {error}") from error
        if frames.setdefault(region, written) != written:
            raise ValueError(f"{path}: writes other frames than the first bitstream of region {region}: other pblocks?")
        (out / f"{task}-{region}.bin").write_bytes(data)
    return frames


def write_frames(frames: dict[int, list[series7.Frames]], out: Path) -> None:
    """Writes the list of each region's frames, which the image builder reads (`frames-file` of a board)."""
    listed = {region: [[entry.first, entry.count] for entry in entries] for region, entries in frames.items()}
    (out / "frames.json").write_text(json.dumps(listed) + "\n", encoding="utf-8")


def _overlaps(frames: dict[int, list[series7.Frames]]) -> list[str]:
    """Regions that write a frame of another one, as far as the addresses in the bitstreams tell."""
    first = [(entry.first, region) for region, entries in frames.items() for entry in entries]
    return [
        f"regions {a} and {b} both write frames from {at:#x}"
        for at, a in first
        for to, b in first
        if at == to and a < b
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    try:
        frames = convert_all(arguments.folder, arguments.out)
    except ValueError as error:
        print(f"bit2simb.py: {error}", file=sys.stderr)
        return 1
    if overlaps := _overlaps(frames):
        print("".join(f"bit2simb.py: {line}\n" for line in overlaps), end="", file=sys.stderr)
        return 1
    write_frames(frames, arguments.out)
    for region, entries in frames.items():
        print(f"region {region}: {sum(entry.count for entry in entries)} frames in {len(entries)} blocks")
    return 0


if __name__ == "__main__":
    sys.exit(main())
