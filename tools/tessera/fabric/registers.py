# SPDX-License-Identifier: Apache-2.0
"""The fabric's registers, from the header that is generated from fpga/hw/rdl."""

from pathlib import Path

from tessera.cheader import ROOT, read_header

HEADER = ROOT / "fpga" / "hw" / "include" / "fabric_map.h"


def read(header: Path = HEADER) -> dict[str, int]:
    """Returns addresses in the fabric, and positions and widths of fields, by their names in the header."""
    return read_header(str(header)).constants


def register(name: str) -> int:
    """Returns the value of one of them."""
    return read()[name]
