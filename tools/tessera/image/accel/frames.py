# SPDX-License-Identifier: Apache-2.0
"""The frames of a board's regions, where the tools that made its bitstreams decide them."""

import json
from dataclasses import replace
from pathlib import Path

from tessera.image.accel import accel_image
from tessera.image.files import find_file
from tessera.image.model import Board, Fabric
from tessera.image.validate import Read

Blocks = tuple[tuple[int, int], ...]


def with_frames(system: Read, board: Board, search: tuple[Path, ...]) -> Board:
    """Returns the board with the frames of its `frames-file`, if the system has accelerators; without one, the board
    itself. Reports problems of the file; then no region has frames."""
    fabric = board.fabric
    if "accelerators" not in system.children or fabric is None or fabric.frames_file is None:
        return board
    path = find_file(system, "board", fabric.frames_file, search)
    frames = _read(system, path, fabric) if path is not None else None
    return replace(board, fabric=replace(fabric, frames=frames or ((),) * len(fabric.size_classes)))


def _read(system: Read, path: Path, fabric: Fabric) -> tuple[Blocks, ...] | None:
    """Returns the frames of each region; None, with a problem, if the file has not those of this fabric."""
    try:
        listed = json.loads(path.read_text(encoding="utf-8"))
        frames = tuple(tuple(map(_block, listed[str(region)])) for region in range(len(fabric.size_classes)))
    except (OSError, ValueError, KeyError, TypeError) as error:
        expected = f"expected blocks of frames for each of {len(fabric.size_classes)} regions in {path}"
        system.problem("board", f"{expected}: {type(error).__name__}: {error}")
        return None
    if sum(map(len, frames)) > accel_image.MAX_FRAMES:
        got = f"got {sum(map(len, frames))}"
        system.problem("board", f"expected at most {accel_image.MAX_FRAMES} blocks of frames in {path}, {got}")
        return None
    return frames


def _block(numbers: list[int]) -> tuple[int, int]:
    """Raises ValueError."""
    first, count = numbers
    if type(first) is not int or type(count) is not int:
        raise ValueError(f"expected two whole numbers, got {numbers}")
    if not (0 <= first < 1 << 32 and 0 < count < 1 << 26):
        raise ValueError(f"{count} frames from {first}")
    return first, count
