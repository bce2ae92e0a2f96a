# SPDX-License-Identifier: Apache-2.0
"""What the component `shared` adds to the image builder."""

from tessera.image import virtual
from tessera.image.component import Component, Space
from tessera.image.hardware import check_hardware
from tessera.image.model import Vm
from tessera.image.shared import describe, schema, shared_image
from tessera.image.shared.devices import NODE, SECTION, load_shared_devices


def _spaces(vm: Vm) -> list[Space]:
    size = shared_image.PAGES * virtual.SHARED_PAGE
    return [Space("the shared devices", virtual.SHARED_BASE, size)] if vm.shared_devices else []


def _sources(vm: Vm) -> dict[int, str]:
    return {virtual.SHARED_IRQ: "the component shared"} if vm.shared_devices else {}


COMPONENT = Component(
    load=lambda loading: load_shared_devices(loading.node, loading.vms, loading.board),
    check_vm=lambda vm: check_hardware(vm, NODE, (virtual.SHARED_IRQ,)),
    spaces=_spaces,
    sources=_sources,
    tree=describe.tree,
    facts=describe.facts,
    vm_facts=describe.vm_facts,
    section=SECTION,
    system_nodes={NODE: schema.SHARED_DEVICES},
    vm_nodes={NODE: schema.VM_SHARED_DEVICES},
)
