# SPDX-License-Identifier: Apache-2.0
"""Describes accelerators: to a guest by its device tree, and in system.json."""

from typing import Any

from tessera.image import dts, virtual
from tessera.image.accel.accelerators import hold_us
from tessera.image.component import Tree
from tessera.image.files import file_facts
from tessera.image.model import Accelerator, System, Vm, VmAccelerator


def tree(_: System, vm: Vm) -> Tree:
    """Returns the nodes of a VM's accelerators that are no PCI functions."""
    return Tree(fabric=[_node(use) for use in vm.accelerator_pages])


def _node(use: VmAccelerator) -> list[str]:
    device = use.device
    body = [
        'compatible = "tessera,accelerator";',
        f"reg = {dts.reg(device.address, virtual.ACCEL_SIZE)};",
        "interrupt-parent = <&plic>;",
        f"interrupts = <{virtual.ACCEL_IRQ}>, <{virtual.ACCEL_EVENT_IRQ}>;",
        f"tessera,task = <{device.node['task']}>;",
        f"label = {dts.string(device.name)};",
    ]
    if use.node["overlay"]:
        body.append('status = "disabled";  // the hypervisor writes "okay" at a start while the overlay is applied')
    return dts.node(f"accelerator@{device.address:x}", body)


def facts(system: System) -> dict[str, Any]:
    """Returns the fabric as the system uses it."""
    return {"fabric": _fabric(system)}


def vm_facts(vm: Vm) -> dict[str, Any]:
    """Returns the accelerators of a VM."""
    return {"accelerators": [_use(use) for use in vm.accelerators]}


def _fabric(system: System) -> dict[str, Any] | None:
    """Returns the fabric as the system uses it, None if it does not."""
    fabric = system.board.fabric
    if fabric is None or not system.accelerators:
        return None
    node = system.node.children["accelerators"]
    return {
        "base": fabric.base,
        "interrupt": fabric.interrupt,
        "clock_hz": fabric.clock_hz,
        "size_classes": list(fabric.size_classes),
        "hold_cycles": fabric.cycles(hold_us(system)),
        "stop_cycles": fabric.cycles(node["stop-us"]),
        "clients": [{"vm": vm.name, "interrupt": vm.fabric_irq} for vm in system.clients],
        "devices": [_accelerator(device) for device in system.accelerators],
        "overlays": [
            {
                "name": overlay.name,
                "regions": [{"region": region, "device": device.name} for region, device in overlay.fragments],
            }
            for overlay in system.overlays
        ],
    }


def _accelerator(device: Accelerator) -> dict[str, Any]:
    return {
        "name": device.name,
        "task": device.node["task"],
        "size_class": device.node["size-class"],
        "verify": device.node["verify"],
        "bitstreams": [{"region": one.region, **(file_facts(one.file) or {})} for one in device.bitstreams],
    }


def _use(use: VmAccelerator) -> dict[str, Any]:
    node, address = use.node, use.device.address
    return {"name": use.device.name, "address": address, "priority": node["priority"], "model": node["model"]}
