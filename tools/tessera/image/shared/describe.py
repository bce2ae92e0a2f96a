# SPDX-License-Identifier: Apache-2.0
"""Describes shared devices: to a guest by its device tree, and in system.json."""

from typing import Any

from tessera.image import dts, virtual
from tessera.image.component import Tree
from tessera.image.model import Board, Load, SharedDevices, System, Vm
from tessera.image.shared import shared_image
from tessera.image.shared.display import line_bytes
from tessera.image.validate import Read


def tree(system: System, vm: Vm) -> Tree:
    """Returns the nodes of a VM's shared devices, the console and the framebuffer."""
    console = "uart" in vm.described_pages and not vm.has_uart
    return Tree(
        chosen=[f'stdout-path = "/fabric/serial@{shared_image.address("uart"):x}";'] if console else [],
        in_chosen=[_framebuffer(vm, vm.framebuffer)] if vm.framebuffer else [],
        fabric=[_node(system, name, vm.shared_devices[name]) for name in vm.described_pages],
        root=[_clock(system.board)] if "spi" in vm.described_pages else [],
    )


def _framebuffer(vm: Vm, memory: Load) -> list[str]:
    """Returns the node of a framebuffer that is on the screen already."""
    _, _, width, height = vm.shared_devices["display"]["rectangle"]
    body = [
        'compatible = "simple-framebuffer";',
        f"reg = {dts.reg(memory.gpa, memory.span)};",
        f"width = <{width}>;",
        f"height = <{height}>;",
        f"stride = <{line_bytes(width)}>;",
        'format = "x8r8g8b8";',
    ]
    return dts.node(f"framebuffer@{memory.gpa:x}", body)


def _clock(board: Board) -> list[str]:
    """Returns the node of the shared devices' clock, by which drivers set the rates of SPI controllers."""
    body = ['compatible = "fixed-clock";', "#clock-cells = <0>;", f"clock-frequency = <{_hardware(board).clock_hz}>;"]
    return dts.node("shared_clock: shared-clock", body)


def _hardware(board: Board) -> SharedDevices:
    assert board.shared_devices is not None, "load_shared_devices() refuses shared devices that the board lacks"
    return board.shared_devices


def _node(system: System, name: str, use: Read) -> list[str]:
    """Returns the node of a shared device, with a page in `reg` for each of its numbers."""
    pages = (virtual.SHARED_BASE + number * virtual.SHARED_PAGE for number in shared_image.DEVICES[name])
    body = [
        f"reg = {', '.join(dts.reg(page, virtual.SHARED_PAGE) for page in pages)};",
        "interrupt-parent = <&plic>;",
        f"interrupts = <{virtual.SHARED_IRQ}>;",
    ]
    devices = system.node.children["shared-devices"].children
    if name == "uart":
        return dts.node(f"serial@{shared_image.address(name):x}", [*body, *_uart(devices[name])])
    if name == "spi":
        return dts.node(f"spi@{shared_image.address(name):x}", [*body, *_spi(use, devices["flash"])])
    body = [
        f'compatible = "tessera,shared-{name}";',
        *body,
        f"clock-frequency = <{_hardware(system.board).clock_hz}>;",  # of the time base
    ]
    if name == "flash":
        body.append(f"tessera,window-sectors = <{use['window'][1]}>;")
    elif name == "ethernet":
        body.append(f"local-mac-address = [{use['mac'].hex(' ')}];")
    elif name == "display":
        body.append(f"tessera,rectangle = <{' '.join(map(str, use['rectangle']))}>;")
    elif name == "gpio":
        body.append(f"tessera,pins = <{' '.join(map(str, use['pins']))}>;")
    return dts.node(f"{name}@{shared_image.address(name):x}", body)


def _uart(device: Read) -> list[str]:
    return [
        'compatible = "tessera,shared-uart", "ns16550a";',
        "reg-shift = <2>;",
        "reg-io-width = <4>;",
        f"clock-frequency = <{virtual.UART_CLOCK_HZ}>;",  # any: the hardware ignores the divisor
        f"current-speed = <{device['baud']}>;",
    ]


def _spi(use: Read, flash: Read) -> list[str]:
    """Returns the controller's own properties, and the chip with the VM's window as its only partition: the chip has
    the identification of the whole flash."""
    partition = ['label = "window";', f"reg = {dts.cells(0, use['window'][1] * shared_image.SECTOR)};"]
    partitions = ['compatible = "fixed-partitions";', "#address-cells = <1>;", "#size-cells = <1>;"]
    partitions += ["", *dts.node("partition@0", partition)]
    chip = ['compatible = "jedec,spi-nor";', "reg = <0>;", f"spi-max-frequency = <{flash['sck-hz']}>;"]
    chip += ["", *dts.node("partitions", partitions)]
    body = ['compatible = "sifive,spi0";', "clocks = <&shared_clock>;", "#address-cells = <1>;", "#size-cells = <0>;"]
    return [*body, "", *dts.node("flash@0", chip)]


def facts(system: System) -> dict[str, Any]:
    """Returns the shared devices as the system uses them."""
    return {"shared_devices": _shared_devices(system)}


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


def vm_facts(vm: Vm) -> dict[str, Any]:
    """Returns the shared devices of a VM."""
    return {"shared_devices": list(vm.shared_devices)}
