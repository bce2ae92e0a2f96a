# SPDX-License-Identifier: Apache-2.0
"""The fabric's registers, from the header that is generated from fpga/hw/rdl."""

import re
from functools import cache
from pathlib import Path

HEADER = Path(__file__).resolve().parents[3] / "fpga" / "hw" / "include" / "fabric_map.h"


def read(header: Path = HEADER) -> dict[str, int]:
    """Returns addresses in the fabric, and positions and widths of fields, by their names in the header."""
    found = re.findall(r"^#define (\w+) (0x[0-9a-f]+)U\b", header.read_text(encoding="utf-8"), re.MULTILINE)
    return {name: int(value, 16) for name, value in found}


@cache
def register(name: str) -> int:
    """Returns the value of one of them."""
    return read()[name]
