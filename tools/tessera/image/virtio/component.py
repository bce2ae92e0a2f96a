# SPDX-License-Identifier: Apache-2.0
"""What the component `virtio` adds to the image builder."""

from tessera.image import virtual
from tessera.image.component import Component, Loading, Space
from tessera.image.model import Vm
from tessera.image.virtio import describe, hostpci, schema
from tessera.image.virtio.functions import NETWORKS, NODE, SECTION, load_functions


def _load(loading: Loading) -> None:
    loading.networks = load_functions(loading.node, loading.vms, loading.accelerators, loading.search)
    hostpci.assign(loading.vms, loading.section("devices"), loading.board)


def _check_vm(vm: Vm) -> None:
    """Reports PCI functions without an interrupt controller, and devices with the interrupt of one."""
    node = vm.node
    if NODE not in node.children:
        return
    if not vm.machine.has_plic:
        got = f"got it on {vm.machine.architecture}"
        node.children[NODE].problem("", f"expected only where guests have a PLIC, {got}")
    elif node["no-plic"]:
        node.problem("no-plic", "expected only on a VM without PCI functions: their interrupts need a PLIC")
    irqs = _sources(vm)
    for device in vm.devices:
        if device.interrupt in irqs:
            got = f"got {device.name}, whose interrupt {device.interrupt} {irqs[device.interrupt]} has"
            node.problem("devices", f"expected interrupts other than those of the PCI functions, {got}")


def _spaces(vm: Vm) -> list[Space]:
    bus = [
        Space("the PCI bus", virtual.PCI_ECAM, virtual.PCI_ECAM_SIZE),
        Space("the PCI BARs", virtual.PCI_BARS, virtual.PCI_WINDOW),
    ]
    return [*(bus if vm.functions else []), *(Space(f"the BARs of {one.name}", *one.bars) for one in vm.host_functions)]


def _sources(vm: Vm) -> dict[int, str]:
    return {function.irq: function.node.path for function in vm.functions}


COMPONENT = Component(
    load=_load,
    check_vm=_check_vm,
    spaces=_spaces,
    sources=_sources,
    tree=describe.tree,
    facts=describe.facts,
    vm_facts=describe.vm_facts,
    section=SECTION,
    system_nodes={NETWORKS: schema.NETWORKS},
    vm_nodes={NODE: schema.VM_FUNCTIONS},
)
