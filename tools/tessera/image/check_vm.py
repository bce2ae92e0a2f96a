# SPDX-License-Identifier: Apache-2.0
"""Checks of one VM that a schema cannot express: guest-physical addresses, and properties that
exclude each other."""

from itertools import combinations

from tessera.image import components, layout, loads, virtual
from tessera.image.emulated import EMULATED
from tessera.image.model import Memory, Shared, Vm
from tessera.image.nodes import RAM_ALIGN

MAX_DEVICES = layout.MAX_REGIONS - 1  # one region is the RAM


def check_vm(vm: Vm) -> None:
    """Reports the problems of `vm`."""
    _check_together(vm)
    _check_no_controller(vm)
    _check_spaces(vm)
    _check_devices(vm)
    _check_emulated(vm)
    _check_rate(vm)
    _check_messages(vm)
    components.check_vm_by_components(vm)
    loads.check(vm)


def _check_together(vm: Vm) -> None:
    node = vm.node
    if not node["sign-of-life"] and not node["manual-start"]:
        node.problem("sign-of-life", "missing; expected the text that shows that the guest works, or manual-start")
    if node["no-uart"] and node["uart-polled"]:
        node.problem("uart-polled", "expected only on a VM with a UART, got no-uart as well")
    if node["no-plic"] and not (node["no-uart"] or node["uart-polled"]):
        node.problem("no-plic", "expected together with uart-polled or no-uart: the UART's interrupt needs a PLIC")
    if node["no-plic"] and node["devices"]:
        node.problem("no-plic", "expected only on a VM without devices: their interrupts need a PLIC")


def _check_no_controller(vm: Vm) -> None:
    """Reports properties that need an interrupt controller, on machines whose guests have only the
    CPU's lines."""
    for prop in ("no-plic", "message-interrupt", "devices"):
        if vm.node[prop] and not vm.machine.has_plic:
            vm.node.problem(prop, f"expected only where guests have a PLIC, got it on {vm.machine.architecture}")
    if "memory" in vm.node.children and not vm.machine.has_plic:
        vm.node.children["memory"].problem("", f"expected only on riscv, got it on {vm.machine.architecture}")


def _spaces(vm: Vm) -> list[tuple[str, str, int, int]]:
    """Lists the ranges of the guest's address space: name, property to report, first address, end
    address."""
    spaces = [("the RAM", "memory-base", vm.memory_base, vm.memory_end)]
    spaces += [(one.what, "memory-base" if one.is_ram else one.prop, one.base, one.end) for one in vm.memory]
    if vm.has_uart:
        spaces.append(("the UART", "memory-base", vm.machine.uart_base, vm.machine.uart_base + virtual.UART_SIZE))
    if vm.has_plic:
        spaces.append(("the PLIC", "memory-base", virtual.PLIC_BASE, virtual.PLIC_BASE + virtual.PLIC_SIZE))
    spaces += [(one.name, "memory-base", one.base, one.base + one.size) for one in components.spaces_of(vm)]
    spaces += [(device.name, "devices", device.base, device.base + device.size) for device in vm.devices]
    return spaces


def _check_shared_spaces(vm: Vm) -> None:
    spaces = [(name, first, behind) for name, _, first, behind in _spaces(vm)]
    for region in vm.shared:
        for name, first, behind in spaces:
            if first < region.end and region.base < behind:
                what = f"{name} of {vm.node.path} at {first:#x}..{behind:#x}"
                got = f"got {what}, this at {region.base:#x}..{region.end:#x}"
                region.node.problem("address", f"expected addresses that nothing else of its VMs has, {got}")
        spaces.append((region.node.path, region.base, region.end))


def _check_gaps(vm: Vm) -> None:
    """Reports pieces of RAM without a gap between them. Linux takes them for one piece, and puts buffers of devices
    across the border; a buffer must be in one region of the VM (memmap_ram())."""
    ram = [("the RAM", vm.memory_base, vm.memory_end)]
    for piece in vm.more:
        for name, first, behind in ram:
            if piece.base == behind or piece.end == first:
                got = f"got {name} at {first:#x}..{behind:#x}, this at {piece.base:#x}..{piece.end:#x}"
                piece.node.problem("address", f"expected a gap between it and the VM's other RAM, {got}")
        ram.append((piece.what, piece.base, piece.end))


def _check_spaces(vm: Vm) -> None:
    end = vm.machine.gpa_end
    if vm.memory_end > end:
        got = f"got memory up to {vm.memory_end:#x}"
        vm.node.problem("memory-size", f"expected guest-physical addresses below {end:#x}, {got}")
    for one, other in combinations(_spaces(vm), 2):
        (name, _, first, behind), (other_name, prop, other_first, other_behind) = one, other
        if first < other_behind and other_first < behind:
            got = f"got {name} at {first:#x}..{behind:#x} and {other_name} at {other_first:#x}..{other_behind:#x}"
            vm.node.problem(prop, f"expected guest-physical addresses that do not overlap, {got}")
    _check_gaps(vm)
    _check_shared_spaces(vm)
    pieces: list[Shared | Memory] = [*vm.shared, *vm.more]
    for region in pieces:
        if region.end > end:
            got = f"got memory up to {region.end:#x}"
            region.node.problem("size", f"expected guest-physical addresses below {end:#x}, {got}")
    _check_number(vm)


def _check_number(vm: Vm) -> None:
    """Reports more regions than the hypervisor has for a VM."""
    room = layout.MAX_REGIONS - 1 - len(vm.devices) - (len(vm.memory) - len(vm.more))
    if len(vm.shared) > room - len(vm.more) >= 0:
        got = f"got {len(vm.shared)} and {len(vm.devices)} devices"
        vm.node.problem("", f"expected at most {room - len(vm.more)} shared regions with a VM's devices, {got}")
    elif vm.more and room < len(vm.more):
        expected = f"expected at most {max(room, 0)} pieces of RAM with a VM's devices"
        vm.node.children["memory"].problem("", f"{expected}, got {len(vm.more)}")


def _check_devices(vm: Vm) -> None:
    devices = vm.devices
    if len(devices) > MAX_DEVICES:
        vm.node.problem("devices", f"expected at most {MAX_DEVICES} devices, got {len(devices)}")
    ends = [end for device in devices for end in (device.base, device.base + device.size - 1)]
    if len({end // RAM_ALIGN for end in ends}) > 1:
        vm.node.problem("devices", "expected devices that lie in one and the same 2 MiB of addresses")
    for device in devices:
        if vm.has_uart and device.interrupt == virtual.UART_IRQ:
            got = f"got {device.name}"
            vm.node.problem("devices", f"expected interrupts other than the UART's {virtual.UART_IRQ}, {got}")


def _check_emulated(vm: Vm) -> None:
    """Reports devices that the VM asks for and cannot have. Those that every VM has make room for others."""
    for one in EMULATED:
        if not one.is_default and one.is_wanted(vm.node) and one not in vm.emulated:
            place = f"{vm.machine.architecture} with RAM, shared memory or a device at this address"
            vm.node.problem(one.prop.name, f"expected RISC-V with a free address {one.base:#x}, got {place}")


def _check_rate(vm: Vm) -> None:
    if vm.node.given("interrupts-per-ms") and not (vm.irqs or vm.shared_devices or vm.host_functions):
        expected = "expected only on a VM with devices, accelerators, shared devices or PCI functions of the machine"
        vm.node.problem("interrupts-per-ms", expected)


def _check_messages(vm: Vm) -> None:
    source = vm.node["message-interrupt"]
    if source and not vm.has_plic:
        vm.node.problem("message-interrupt", "expected only on a VM with a PLIC, got no-plic as well")
    taken = {device.interrupt: device.name for device in vm.devices}
    if vm.has_uart:
        taken[virtual.UART_IRQ] = "the UART"
    taken |= components.sources_of(vm)
    if source in taken:
        got = f"got {source}, which {taken[source]} has"
        vm.node.problem("message-interrupt", f"expected a source that nothing else has, {got}")
