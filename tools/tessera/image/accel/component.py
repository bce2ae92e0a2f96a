# SPDX-License-Identifier: Apache-2.0
"""What the component `accel` adds to the image builder."""

from tessera.image.accel import schema
from tessera.image.accel.accelerators import SECTION, assign_accelerators, check_units, load_accelerators
from tessera.image.accel.frames import with_frames
from tessera.image.accel.overlays import assign_overlays, load_overlays
from tessera.image.component import Component, Loading

NODE = "accelerators"


def _load(loading: Loading) -> None:
    """Reads the devices and the overlays, and assigns to each VM those that it names. Nothing without a board."""
    if loading.board is None:
        return
    node, vms = loading.node.children.get(NODE), loading.vms
    board = loading.board = with_frames(loading.node, loading.board, loading.search)
    loading.accelerators = load_accelerators(loading.node, board, loading.search)
    assign_accelerators(loading.node, vms, loading.accelerators, board)
    loading.overlays = load_overlays(node, loading.accelerators)
    assign_overlays(node, vms, loading.overlays, board)


COMPONENT = Component(
    _load,
    check_units,
    SECTION,
    system_nodes={NODE: schema.ACCELERATORS},
    vm_nodes={NODE: schema.VM_ACCELERATORS},
)
