# SPDX-License-Identifier: Apache-2.0
"""system.json: the facts about a built system that the runner and the tests need."""

import hashlib
from typing import Any

from tessera.image import components, hostnet, memory
from tessera.image.files import file_facts
from tessera.image.model import Device, File, Shared, System, Vm
from tessera.image.virtio import hostpci
from tessera.image.virtio.pcikinds import device_of
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
        "hypervisor": file_facts(hypervisor),
        "vms": [_vm(vm) for vm in system.vms],
        "shared": [_shared(region) for region in system.shared],
        **components.facts_of(system),
        "sorters": sorters,
        "qemu": _qemu(system),
        "iasim": {"board": board.iasim_board} if board.iasim_board else None,
        "spike": {"isa": board.spike_isa, "memory_mib": board.ram_size >> 20} if board.spike_isa else None,
        "soc": {"load": board.load_address} if board.soc_simulation else None,
    }


def _vm(vm: Vm) -> dict[str, Any]:
    node = vm.node
    return {
        "id": vm.id,
        "name": vm.name,
        "colour": vm.colour,
        "ansi": COLOURS[vm.colour],
        "vcpus": vm.vcpus,
        "memory": {"base": vm.memory_base, "size": vm.memory_size, "host": vm.host_base},
        "more_memory": [{"base": one.base, "size": one.size, "host": one.host_base} for one in vm.more],
        **memory.manifest(vm),
        "entry": vm.entry,
        "sign_of_life": node["sign-of-life"],
        "autostart": not node["manual-start"],
        "keyboard": bool(node["keyboard"]),
        "on_fatal": node["on-fatal"],
        **{prop: file_facts(file) for prop, file in vm.files.items()},
        "bootargs": node["bootargs"] or None,
        "loads": [{"what": load.what, "address": load.gpa, "size": len(load.data)} for load in vm.loads],
        "devices": [device.name for device in vm.devices],
        **components.vm_facts_of(vm),
        "mmio": [{"name": name, "base": base, "size": size} for name, base, size in vm.mmio],
        "device_tree": f"{vm.name}.dtb",
    }


def _shared(region: Shared) -> dict[str, Any]:
    memory = {"base": region.base, "size": region.size, "host": region.host_base}
    return {"id": region.id, "name": region.name, "memory": memory, "vms": list(region.vms)}


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
