# SPDX-License-Identifier: Apache-2.0
"""What bit2simb.py makes of partial bitstreams for a Genesys2 (docs/fabric.md), for tests without Vivado."""

from pathlib import Path

from series7_writer import Writer

import bit2simb

# The frames of each region: address of the first one and number.
BLOCKS = {
    0: [(0x0002_0000, 4), (0x0080_0100, 3)],
    1: [(0x0042_0580, 6)],
    2: [(0x0044_0000, 5), (0x0046_0000, 5)],
}


def put_partial(folder: Path) -> None:
    """Writes the bitstreams of task 1 for each region, and the list of their frames."""
    partial = folder.with_name("partial")
    partial.mkdir()
    for region, blocks in BLOCKS.items():
        (partial / f"1-{region}.bin").write_bytes(Writer(blocks=blocks).bin())
    bit2simb.write_frames(bit2simb.convert_all(partial, folder), folder)
