# SPDX-License-Identifier: Apache-2.0
"""The blocks of the fabric: four VMs, four devices, three regions, sorters of 64 entries, as on the Genesys2.

`fabric_top` has its default of two sorters; the Genesys2 has three.
"""

from synth import Block

BLOCKS = [
    Block(top="region_gate"),
    Block(top="region_feed"),
    Block(top="region_port"),
    Block(top="dma_guard"),
    Block(top="dma_reader"),
    Block(top="dma_writer"),
    Block(top="ctx_mover"),
    Block(top="prr_fsm"),
    Block(top="prr_run"),
    Block(top="prr_slot"),
    Block(top="prr_choice"),
    Block(top="prr_monitor"),
    Block(top="conn_matrix"),
    Block(top="if_flags"),
    Block(top="if_mem"),
    Block(top="dma_windows"),
    Block(top="sort_port", parameters={"Depth": 64}),
    Block(top="icap_ctrl"),
    Block(top="fabric_bus"),
    Block(top="fabric_manager"),
    Block(top="fabric_top", parameters={"SorterDepth": 64}, weight=1000),
]
