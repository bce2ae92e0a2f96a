# SPDX-License-Identifier: Apache-2.0
"""Describes the functions of a virtual PCI bus: to a guest by its device tree, and in system.json."""

from typing import Any

from tessera.image import dts, memory, virtual
from tessera.image.component import Tree
from tessera.image.files import file_facts
from tessera.image.model import PciFunction, System, Vm
from tessera.image.virtio.pcikinds import spell_function

# Memory that is not prefetchable, in the first cell of a PCI address.
PCI_MEMORY32 = 0x02000000
PCI_MEMORY64 = 0x03000000


def tree(_: System, vm: Vm) -> Tree:
    """Returns the node of a VM's virtual PCI bus."""
    if not vm.functions:
        return Tree()
    probe_only = "linux,pci-probe-only = <1>;  // the guest keeps the addresses of the BARs"
    return Tree(chosen=[probe_only], root=[_pci(vm)])


def _pci(vm: Vm) -> list[str]:
    """Returns the host bridge of the VM's virtual PCI bus. Not a part of /soc, whose dma-ranges would make drivers
    translate."""
    # A function's address on the bus, its pin INTA, and its source.
    routes = [f"<{f.slot << 11:#x} 0 0 1 &plic {f.irq}>" for f in vm.functions]
    body = [
        'compatible = "pci-host-ecam-generic";',
        'device_type = "pci";',
        f"reg = {dts.reg(virtual.PCI_ECAM, virtual.PCI_ECAM_SIZE)};",
        "bus-range = <0 0>;",
        "#address-cells = <3>;",
        "#size-cells = <2>;",
        f"ranges = {', '.join(_pci_range(base, size) for base, size in vm.pci_windows)};",
        "#interrupt-cells = <1>;",
        "interrupt-map-mask = <0xf800 0 0 7>;",
        f"interrupt-map = {', '.join(routes)};",
        "dma-coherent;",
    ]
    if vm.host_functions:
        body.append(f"dma-ranges = {_pci_dma_ranges(vm)};")
    return dts.node(f"pci@{virtual.PCI_ECAM:x}", body)


def _pci_dma_ranges(vm: Vm) -> str:
    """DMA of the machine's functions uses host-physical addresses. Drivers do not translate for virtio functions of the
    hypervisor, which do not offer VIRTIO_F_ACCESS_PLATFORM."""
    return ", ".join(
        dts.cells(PCI_MEMORY64, *(cell for number in piece for cell in dts.wide(number)))
        for piece in memory.for_dma(vm)
    )


def _pci_range(base: int, size: int) -> str:
    """Returns a range of memory with the same addresses on the bus as for the CPU."""
    space = PCI_MEMORY32 if base + size <= 1 << 32 else PCI_MEMORY64
    return dts.cells(space, *dts.wide(base), *dts.wide(base), *dts.wide(size))


def facts(system: System) -> dict[str, Any]:
    """Returns the networks between functions."""
    return {"networks": system.networks}


def vm_facts(vm: Vm) -> dict[str, Any]:
    """Returns the functions of a VM."""
    return {"functions": [_function(function) for function in vm.functions]}


def _function(function: PciFunction) -> dict[str, Any]:
    """Returns a PCI function, with null for what its model does not have."""
    disk = {"size": function.disk_size, "host": function.disk_host, "content": file_facts(function.content)}
    return {
        "name": function.name,
        "model": function.model,
        "slot": function.slot,
        "interrupt": function.irq,
        "network": function.node["network"],
        "mac": function.mac.hex(":") or None,
        "cid": function.cid or None,
        "shared": function.node["shared"],
        "device": function.node["device"],
        "disk": disk if function.disk_size and not function.server else None,
        "served_by": function.server or None,
        "host": spell_function(function.node["function"]) if function.host else None,
    }
