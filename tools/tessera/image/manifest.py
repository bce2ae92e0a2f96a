# SPDX-License-Identifier: Apache-2.0
"""system.json: the facts about a built system that the runner and the tests need."""

import hashlib
from typing import Any

from tessera.image import hostnet, memory
from tessera.image.accel.accelerators import hold_us
from tessera.image.model import Accelerator, Device, File, PciFunction, Shared, System, Vm, VmAccelerator
from tessera.image.virtio import hostpci
from tessera.image.virtio.pcikinds import device_of, spell_function
from tessera.image.vm_schema import COLOURS
from tessera.run.virtualtime import By, virtual_time

FORMAT = 1


def manifest(system: System, image: bytes, hypervisor: File | None, sorters: bool = False) -> dict[str, Any]:
    """Returns the contents of system.json. `image` is the whole bootable file, `sorters`: the hypervisor needs the
    fabric for its queues."""
    board = system.board
    return {
        "format": FORMAT,
        "system": system.name,
        "source": str(system.source),
        "board": board.name,
        "harts": system.harts,
        "quantum_us": system.quantum_us,
        "timebase_hz": board.timebase_hz,
        "machine_mask": list(system.machine_mask),
        "trace": {"base": system.ram_end, "kib": system.trace_kib} if system.trace_kib else None,
        "ram": {"base": board.ram_base, "size": board.ram_size},
        "load_address": board.load_address,
        "image": {"size": len(image), "sha256": hashlib.sha256(image).hexdigest()},
        "hypervisor": _file(hypervisor),
        "vms": [_vm(vm) for vm in system.vms],
        "networks": system.networks,
        "shared": [_shared(region) for region in system.shared],
        "fabric": _fabric(system),
        "shared_devices": _shared_devices(system),
        "sorters": sorters,
        "qemu": _qemu(system),
        "iasim": {"board": board.iasim_board} if board.iasim_board else None,
        "spike": {"isa": board.spike_isa, "memory_mib": board.ram_size >> 20} if board.spike_isa else None,
        "soc": {"load": board.load_address} if board.soc_simulation else None,
    }


def _file(file: File | None) -> dict[str, Any] | None:
    if file is None:
        return None
    return {"path": str(file.path), "size": len(file.data), "sha256": file.sha256}


def _vm(vm: Vm) -> dict[str, Any]:
    node = vm.node
    return {
        "id": vm.id,
        "name": vm.name,
        "colour": vm.colour,
        "ansi": COLOURS[vm.colour],
        "vcpus": vm.vcpus,
        "rt_apps": node["rt-apps"],
        "memory": {"base": vm.memory_base, "size": vm.memory_size, "host": vm.host_base},
        "more_memory": [{"base": one.base, "size": one.size, "host": one.host_base} for one in vm.more],
        **memory.manifest(vm),
        "entry": vm.entry,
        "sign_of_life": node["sign-of-life"],
        "autostart": not node["manual-start"],
        "keyboard": bool(node["keyboard"]),
        "on_fatal": node["on-fatal"],
        **{prop: _file(file) for prop, file in vm.files.items()},
        "bootargs": node["bootargs"] or None,
        "loads": [{"what": load.what, "address": load.gpa, "size": len(load.data)} for load in vm.loads],
        "devices": [device.name for device in vm.devices],
        "accelerators": [_use(use) for use in vm.accelerators],
        "shared_devices": list(vm.shared_devices),
        "functions": [_function(function) for function in vm.functions],
        "mmio": [{"name": name, "base": base, "size": size} for name, base, size in vm.mmio],
        "device_tree": f"{vm.name}.dtb",
    }


def _function(function: PciFunction) -> dict[str, Any]:
    """Returns a PCI function, with null for what its model does not have."""
    disk = {"size": function.disk_size, "host": function.disk_host, "content": _file(function.content)}
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


def _shared(region: Shared) -> dict[str, Any]:
    memory = {"base": region.base, "size": region.size, "host": region.host_base}
    return {"id": region.id, "name": region.name, "memory": memory, "vms": list(region.vms)}


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
        "bitstreams": [{"region": one.region, **(_file(one.file) or {})} for one in device.bitstreams],
    }


def _shared_devices(system: System) -> dict[str, Any] | None:
    """Returns the shared devices as the system uses them, None if it does not."""
    hardware = system.board.shared_devices
    if hardware is None or not system.sharers:
        return None
    return {
        "base": hardware.base,
        "interrupt": hardware.interrupt,
        "clock_hz": hardware.clock_hz,
        "devices": list(system.node.children["shared-devices"].children),
        "clients": [
            {"vm": vm.name, "interrupt": hardware.vm_interrupt + number} for number, vm in enumerate(system.sharers)
        ],
    }


def _use(use: VmAccelerator) -> dict[str, Any]:
    node, address = use.node, use.device.address
    return {"name": use.device.name, "address": address, "priority": node["priority"], "model": node["model"]}


def _qemu(system: System) -> dict[str, Any] | None:
    """Returns QEMU's options, except those for the processor, the console and the image."""
    board = system.board
    if board.qemu_machine is None:
        return None
    arguments = list(board.qemu_arguments)
    if system.node["virtual-time"]:
        arguments += virtual_time(By.SYSTEM)
    for device in system.devices:
        if board.pci and device_of(device.slot):
            arguments += hostpci.qemu_arguments(device, board.pci)
        else:
            arguments += _device_arguments(device, board.devices[device.slot].qemu_bus or "")
    return {"machine": board.qemu_machine, "memory_mib": board.ram_size >> 20, "arguments": arguments}


def _device_arguments(device: Device, bus: str) -> list[str]:
    # With iommu_platform the guest's driver translates DMA addresses; see dma-ranges in guestdt.py.
    common = f"bus={bus},iommu_platform=on"
    if device.model == "virtio-rng":
        return ["-device", f"virtio-rng-device,{common}"]
    if device.model == "virtio-net":
        net = hostnet.netdev(device.name, device.node)
        return ["-netdev", net, "-device", f"virtio-net-device,netdev={device.name},{common}"]
    return ["-drive", hostpci.drive(device), "-device", f"virtio-blk-device,drive={device.name},{common}"]
