# SPDX-License-Identifier: Apache-2.0
"""
Figures that the sources state, for documents (check.figures): bounds that a test holds, numbers of the Makefile, and a
board's costs of RT apps.

- `tests/e2e/test_firmware.py:BOUNDS.rdtime` is a constant of that file, or the member of a constant dictionary.
- `tools/mk/unitfuzz.mk:FUZZ_SHORT_*` is the sum of the numbers that these variables of the Makefile are set to.
- `board.qemu-virt.release@h4` is a cost of the board in a system with four harts.
"""

import ast
import re
from pathlib import Path

from tessera.image.board import read_board
from tessera.image.model import Board

HARTS = (1, 2, 4, 8)


def _literal(value: ast.expr) -> object:
    try:
        return ast.literal_eval(value)
    except ValueError:
        return None


def _constants(file: Path) -> dict[str, object]:
    """The constants of a Python file, by name."""
    lines = ast.parse(file.read_text(encoding="utf-8")).body
    assigned = [line for line in lines if isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Name)]
    return {line.targets[0].id: _literal(line.value) for line in assigned}  # type: ignore[attr-defined]


def constant(root: Path, figure: str) -> float | None:
    """The value of the figure FILE:NAME or FILE:NAME.MEMBER; None if there is no such number."""
    file, _, place = figure.partition(":")
    name, _, member = place.partition(".")
    value = _constants(root / file).get(name) if (root / file).is_file() else None
    if isinstance(value, dict):
        value = value.get(member)
    return float(value) if isinstance(value, int | float) else None


def sum_of_variables(root: Path, figure: str) -> float | None:
    """The sum of the figure FILE:NAMES, where `*` in NAMES stands for any part of a name; None if there is none."""
    file, _, names = figure.partition(":")
    text = (root / file).read_text(encoding="utf-8") if (root / file).is_file() else ""
    variables = names.replace("*", r"\w+")
    numbers = re.findall(rf"^{variables} := (\d+)$", text, re.MULTILINE)
    return float(sum(map(int, numbers))) if numbers else None


def _costs(board: Board, harts: int) -> dict[str, int]:
    alone, functions = board.rt_costs(harts), board.rt_costs(harts, functions=True)
    return {
        "section": board.section_ns(harts, False),
        "section_functions": board.section_ns(harts, True),
        "firmware": harts * board.rt_firmware_ns,
        "blocked": alone.blocked_ns,
        "blocked_functions": functions.blocked_ns,
        "release": alone.release_ns,
        "switch": alone.switch_ns,
    }


def board_costs(root: Path, name: str = "qemu-virt") -> dict[str, float]:
    """The costs of RT apps on the board, ns, by figure; none if the tree does not have it."""
    file = root / "platform" / name / "board.dts"
    if not file.is_file():
        return {}
    board = read_board(file)
    return {
        f"board.{name}.{what}@h{harts}": float(value) for harts in HARTS for what, value in _costs(board, harts).items()
    }
