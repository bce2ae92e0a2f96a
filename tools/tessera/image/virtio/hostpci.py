# SPDX-License-Identifier: Apache-2.0
"""Functions of the machine's PCI bus that are passed through: which VM has which of them, and QEMU's devices there."""

from tessera.image import hostnet, virtual
from tessera.image.model import Board, Device, HostFunction, PciBus, PciFunction, Vm
from tessera.image.validate import Read
from tessera.image.virtio import virtio_image
from tessera.image.virtio.pcikinds import device_of, spell_function

LINES = 4  # interrupt lines of the bus: INTA of device d is line d % LINES
CONFIG_SIZE = 1 << 15  # bytes of the configuration space of a device


def assign(vms: list[Vm], devices: list[Read], board: Board | None) -> None:
    """Gives the functions of model `host` their places on the board's bus; reports those that do not exist, and those
    that another function excludes. `devices` are the nodes of /devices. Nothing without a board."""
    functions = [one for vm in vms for one in vm.host_functions]
    if board is None:
        return
    if board.pci is None:
        for function in functions:
            function.node.problem("model", f"expected host only on a board with a PCI bus, got it on {board.name}")
        return
    if board.qemu_machine:
        _check_exist(functions, devices)
    _check_apart(functions, board.pci)
    for number, function in enumerate(functions):
        device = function.node["function"]
        function.host = HostFunction(
            config=board.pci.configuration + device * CONFIG_SIZE,
            window=board.pci.memory + number * virtual.PCI_HOST_WINDOW,
            interrupt=board.pci.interrupt + device % LINES,
        )


def _check_exist(functions: list[PciFunction], devices: list[Read]) -> None:
    """Reports functions that QEMU does not have."""
    emulated = [device for device in (device_of(node["slot"] or "") for node in devices) if device]
    for node in (function.node for function in functions if function.node["function"] not in emulated):
        known = ", ".join(spell_function(one) for one in emulated) or "there are none"
        got = spell_function(node["function"])
        node.problem("function", f'expected a PCI function of /devices ({known}), got "{got}"')


def _check_apart(functions: list[PciFunction], bus: PciBus) -> None:
    """Reports functions with two owners, and those with one interrupt line: the hypervisor could not tell whose
    interrupt it is."""
    taken: dict[int, Read] = {}
    lines: dict[int, Read] = {}
    for node in (function.node for function in functions):
        device, line = node["function"], node["function"] % LINES
        got = f'got "{spell_function(device)}"'
        if taken.setdefault(device, node) is not node:
            got += f", which {taken[device].path} has"
            node.problem("function", f"expected a PCI function that no other one is, {got}")
        elif lines.setdefault(line, node) is not node:
            got += f" with source {bus.interrupt + line}, which {lines[line].path} has"
            node.problem("function", f"expected a PCI function whose interrupt no other one has, {got}")


# QEMU's devices on its PCI bus, by their models. Without the files of network boot, which not every QEMU has.
_QEMU = {
    "virtio-rng": "virtio-rng-pci,{virtio}",
    "virtio-blk": "virtio-blk-pci,drive={name},{virtio}",
    "virtio-net": "virtio-net-pci,netdev={name},romfile=,{virtio}",
    "nvme": "nvme,drive={name},serial={name}",
    "e1000e": "e1000e,netdev={name},romfile=",
}


def qemu_arguments(device: Device, bus: PciBus) -> list[str]:
    """Returns QEMU's arguments for a device on the PCI bus. With iommu_platform a guest's driver translates DMA
    addresses; see dma-ranges in guestdt.py."""
    virtio = "disable-legacy=on,iommu_platform=on"
    place = f"bus={bus.qemu_bus},addr={device_of(device.slot):#x}"
    words = ["-device", f"{_QEMU[device.model].format(name=device.name, virtio=virtio)},{place}"]
    if device.file:
        words = ["-drive", drive(device), *words]
    if device.model in hostnet.MODELS:
        words = ["-netdev", hostnet.netdev(device.name, device.node), *words]
    return words


def drive(device: Device) -> str:
    """Returns QEMU's argument of -drive for the device's file."""
    file = str(device.file).replace(",", ",,")
    read_only = ",read-only=on" if device.node["read-only"] else ""
    return f"if=none,id={device.name},format=raw,file={file}{read_only}"


def fields(function: PciFunction) -> dict[str, int]:
    """Returns the fields of the function's row in the image."""
    host = function.host
    assert host is not None, "assign() refuses a board without a bus"
    return {"config": host.config, "window": host.window, "irq": host.interrupt}


assert virtio_image.MAX_HOST_FUNCTIONS == LINES, "each function has a line of its own"
