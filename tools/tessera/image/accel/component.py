# SPDX-License-Identifier: Apache-2.0
"""What the component `accel` adds to the image builder."""

from tessera.image import virtual
from tessera.image.accel import describe, schema
from tessera.image.accel.accelerators import SECTION, assign_accelerators, check_units, load_accelerators
from tessera.image.accel.frames import with_frames
from tessera.image.accel.overlays import assign_overlays, load_overlays
from tessera.image.component import Component, Loading, Space
from tessera.image.hardware import check_hardware
from tessera.image.model import Vm

NODE = "accelerators"
IRQS = (virtual.ACCEL_IRQ, virtual.ACCEL_EVENT_IRQ)


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


def _check_vm(vm: Vm) -> None:
    if vm.node["accelerator-priorities"] and NODE not in vm.node.children:
        vm.node.problem("accelerator-priorities", "expected only on a VM with accelerators")
    check_hardware(vm, NODE, IRQS)


def _spaces(vm: Vm) -> list[Space]:
    size = virtual.ACCEL_PAGES * virtual.ACCEL_SIZE
    return [Space("the accelerators", virtual.ACCEL_BASE, size)] if vm.accelerators else []


def _sources(vm: Vm) -> dict[int, str]:
    return dict.fromkeys(IRQS, "the component accel") if vm.accelerators else {}


COMPONENT = Component(
    load=_load,
    check_vm=_check_vm,
    check=check_units,
    spaces=_spaces,
    sources=_sources,
    tree=describe.tree,
    facts=describe.facts,
    vm_facts=describe.vm_facts,
    section=SECTION,
    system_nodes={NODE: schema.ACCELERATORS},
    vm_nodes={NODE: schema.VM_ACCELERATORS},
)
