# SPDX-License-Identifier: Apache-2.0
"""The sorter at every size, with 32 + 32 bits an entry as in the publication that it is compared with."""

from synth import Block

# 8910 LUTs and 8352 registers are the published sorter's; the publication does not state the number of entries.
_BOUNDS = {128: (8910, 9300)}

BLOCKS = [
    Block(
        top="fabric_sorter",
        name=f"sorter-{depth}",
        parameters={"Depth": depth, "KeyWidth": 32, "ValueWidth": 32},
        weight=depth,
        max_luts=_BOUNDS.get(depth, (None, None))[0],
        max_registers=_BOUNDS.get(depth, (None, None))[1],
    )
    for depth in (2, 4, 8, 16, 32, 64, 128, 256)
]
