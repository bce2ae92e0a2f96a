# SPDX-License-Identifier: Apache-2.0
"""The fabric's own blocks, with the parameters of the Genesys2."""

from synth import Block

BLOCKS = [
    Block(top="region_gate"),
]
