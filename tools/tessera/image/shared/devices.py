# SPDX-License-Identifier: Apache-2.0
"""Shared devices: checks them, assigns them to VMs, and writes their section of the system image."""

from collections.abc import Callable, Iterator

from tessera.image import virtual
from tessera.image.model import Board, SharedDevices, System, Vm
from tessera.image.prop_types import suggest
from tessera.image.section import Section
from tessera.image.shared import shared_image, timing
from tessera.image.shared.display import check_display, client_fields, screen_fields
from tessera.image.shared.uart import check_uart, uart_fields
from tessera.image.validate import Read

NODE = "shared-devices"
WHOLE_FRAME = 11  # a chunk of 2^11 bytes: a frame is not cut
UNUSED_SIZE = 7  # the hardware's after a reset
SERVERS = {"spi": "flash"}  # devices whose requests another one serves: its window, priorities and budgets


def load_shared_devices(system: Read, vms: list[Vm], board: Board | None) -> None:
    """Gives each VM the devices that it names; reports problems of /shared-devices and of the VMs' nodes."""
    if board is not None:
        if NODE in system.children:
            _check_devices(system.children[NODE], board)
        _assign(system.children.get(NODE), vms, board)


def _check_devices(node: Read, board: Board) -> None:
    if board.shared_devices is None:
        node.problem("", f"expected only on a board with shared devices, got it on {board.name}")
        return
    if not node.children:
        node.problem("", "expected a device or more, got none")
    if "spi" in node.children and "flash" not in node.children:
        node.children["spi"].problem("", f"expected only beside flash in {node.path}")
    there = board.shared_devices.devices
    for device in node.children.values():
        _check_timeout(device)
        if device.name not in there:
            device.problem("", f"expected a device of {board.name} ({', '.join(there)}), got {device.name}")


def _check_timeout(device: Read) -> None:
    """A shorter one ends requests to erase although the flash works."""
    least, timeout = timing.LONGEST_WRITE_US, device.values.get("timeout-us")
    if device.name == "flash" and timeout and timeout < least:
        device.problem("timeout-us", f"expected at least {least}, two erases of the flash, got {timeout}")


def _assign(node: Read | None, vms: list[Vm], board: Board) -> None:
    users = [vm for vm in vms if NODE in vm.node.children]
    for vm in users:
        _check_uses(vm.node.children[NODE], node)
    if board.shared_devices is not None:
        for vm in users:
            vm.shared_devices = _devices_of(vm.node.children[NODE], board.shared_devices)
        devices = node.children if node else {}
        _check_number(users, board.name, board.shared_devices)
        _check_windows(users, board.name, board.shared_devices)
        _check_pins(users, board.name, board.shared_devices)
        _check_macs(users)
        check_display(devices, users, board.name, board.shared_devices)
        check_uart(devices.get("uart"), users, board.shared_devices)
    if node is not None and not users:
        node.problem("", f"expected a VM with a node {NODE}, got none")


def _check_uses(uses: Read, node: Read | None) -> None:
    """Reports devices of a VM that are not in /shared-devices, and their budgets."""
    known = node.children if node else {}
    for use in uses.children.values():
        if use.name in known:
            _check_budget(use, known.get(SERVERS.get(use.name, use.name)))
        else:
            guess = suggest(use.name, list(known)) or f" ({', '.join(known) or 'there are none'})"
            use.problem("", f'expected the name of a device of /{NODE}, got "{use.name}"{guess}')
    if not uses.children:
        uses.problem("", "expected a device or more, got none")
    if "spi" in uses.children and "flash" in uses.children:
        uses.children["spi"].problem("", "expected only on a VM without flash: both are its window onto the flash")


def _check_budget(use: Read, device: Read | None) -> None:
    budget, period = use.values.get("budget-us"), device.values.get("period-us") if device else None
    if not budget or device is None or period is None:
        return
    if not period:
        use.problem("budget-us", f"expected only with period-us in {device.path}")
    elif budget > period:
        use.problem("budget-us", f"expected at most period-us of {device.path}, {period}, got {budget}")


def _devices_of(uses: Read, hardware: SharedDevices) -> dict[str, Read]:
    there = [name for name in shared_image.DEVICES if name in hardware.devices]
    return {name: uses.children[name] for name in there if name in uses.children}


def _check_number(users: list[Vm], board: str, hardware: SharedDevices) -> None:
    if len(users) > hardware.vms:
        most = f"at most {hardware.vms} VMs with shared devices on {board}"
        users[hardware.vms].node.children[NODE].problem("", f"expected {most}, got {len(users)}")


def _uses(users: list[Vm], device: str, prop: str) -> Iterator[Read]:
    """Yields the nodes of a device, or of one that it serves, in which `prop` was read without a problem."""
    for vm in users:
        for name, use in vm.shared_devices.items():
            if SERVERS.get(name, name) == device and use[prop] is not None:
                yield use


def _check_windows(users: list[Vm], board: str, hardware: SharedDevices) -> None:
    before: list[Read] = []
    for use in _uses(users, "flash", "window"):
        first, end = _window(use)
        if not first < end <= hardware.flash_sectors:
            inside = f"a sector or more of the {hardware.flash_sectors} of {board}'s flash"
            use.problem("window", f"expected {inside}, got {end - first} from sector {first}")
            continue
        for other in before:
            other_first, other_end = _window(other)
            if first < other_end and other_first < end:
                got = f"got {first} to {end - 1}, of which {other.path} has {other_first} to {other_end - 1}"
                use.problem("window", f"expected sectors that no other VM has, {got}")
        before.append(use)


def _window(use: Read) -> tuple[int, int]:
    """Returns the first sector of a window, and the one after its last."""
    first, sectors = use["window"]
    return first, first + sectors


def _check_pins(users: list[Vm], board: str, hardware: SharedDevices) -> None:
    owners: dict[int, Read] = {}
    for use in _uses(users, "gpio", "pins"):
        for pin in use["pins"]:
            if pin >= hardware.pins:
                use.problem("pins", f"expected pins of {board}, 0 to {hardware.pins - 1}, got {pin}")
            elif owners.setdefault(pin, use) is not use:
                use.problem("pins", f"expected pins that no other VM has, got {pin}, which {owners[pin].path} has")


def _check_macs(users: list[Vm]) -> None:
    owners: dict[bytes, Read] = {}
    for use in _uses(users, "ethernet", "mac"):
        mac = use["mac"]
        if owners.setdefault(mac, use) is not use:
            got = f"got [{mac.hex(' ')}], which {owners[mac].path} has"
            use.problem("mac", f"expected an address that no other VM has, {got}")


def _mask(devices: dict[str, Read]) -> int:
    return sum(1 << number for name in devices for number in shared_image.DEVICES[name])


def _channels(devices: dict[str, Read], hardware: SharedDevices) -> dict[str, int]:
    """Returns the settings of the arbiters; those of devices that the system does not use are the hardware's."""
    fields: dict[str, int] = {}
    for number in range(shared_image.CHANNELS):
        fields |= _channel(number, {"size": UNUSED_SIZE})
    burst = timing.slowest_burst(devices, hardware)
    for name, node in devices.items():
        index = shared_image.channel(name)
        if index is not None:
            settings = {
                "policy": shared_image.POLICIES[node["policy"]],
                "size": WHOLE_FRAME if name == "ethernet" else node["chunk"].bit_length() - 1,
                "timeout_cycles": hardware.cycles(node["timeout-us"]),
                "period_cycles": hardware.cycles(node["period-us"]),
                "chunk_cycles": timing.chunk_cycles(name, node, burst, hardware),
                "least_cycles": timing.least_cycles(name, node, hardware),
                "wait_cycles": timing.wait_cycles(name, node, burst, hardware),
            }
            fields |= _channel(index, settings)
    return fields


def _channel(index: int, settings: dict[str, int]) -> dict[str, int]:
    return {f"channels[{index}].{name}": settings.get(name, 0) for name in shared_image.CHANNEL}


def _flash(node: Read | None, hardware: SharedDevices) -> dict[str, int]:
    """Returns the timing of the flash, in cycles; without a flash that of the hardware after a reset."""
    if node is None:
        return {"flash_half": 2, "flash_deselect": 10, "flash_slice": 100000}
    return {
        "flash_half": timing.flash_half(node, hardware),
        "flash_deselect": timing.flash_deselect(hardware),
        "flash_slice": hardware.cycles(node["slice-us"]),
    }


def _shares(vm: Vm, hardware: SharedDevices) -> dict[str, int]:
    """Returns a VM's priority and budget of each arbiter."""
    fields = {f"{name}[{index}]": 0 for name in ("priority", "budget") for index in range(shared_image.CHANNELS)}
    for name, use in vm.shared_devices.items():
        index = shared_image.channel(SERVERS.get(name, name))
        if index is not None:
            fields[f"priority[{index}]"] = use["priority"]
            fields[f"budget[{index}]"] = hardware.cycles(use["budget-us"])
    return fields


def _row(use: Read) -> tuple[int, int, bool]:
    """Returns a VM's MAC address, its VLAN, 0 for none, and whether it receives frames to all group addresses."""
    return int.from_bytes(use["mac"], "big"), use["vlan"], use["multicast"]


def _client(vm: Vm, hardware: SharedDevices) -> bytes:
    uses = vm.shared_devices
    flash = uses.get("flash") or uses.get("spi")
    first, sectors = flash["window"] if flash else (0, 0)
    mac, vlan, multicast = _row(uses["ethernet"]) if "ethernet" in uses else (0, 0, False)
    return shared_image.CLIENT.pack(
        vm=vm.id,
        guest_irq=virtual.SHARED_IRQ,
        devices=_mask(uses),
        flash_first=first,
        flash_sectors=sectors,
        pins=sum(1 << pin for pin in uses["gpio"]["pins"]) if "gpio" in uses else 0,
        mac=mac,
        ethernet=int(multicast) | (2 if vlan else 0),
        vlan=vlan,
        gpa=virtual.SHARED_BASE,
        **_shares(vm, hardware),
        **client_fields(vm),
    )


def section(system: System, offset_of: Callable[[bytes], int]) -> bytes:
    """Returns the section of a system with shared devices, which refers to no payload."""
    hardware, devices = system.board.shared_devices, system.node.children[NODE].children
    assert hardware is not None, "load_shared_devices() refuses shared devices that the board lacks"
    head = shared_image.IMAGE.pack(
        base=hardware.base,
        clock_hz=hardware.clock_hz,
        irq=hardware.interrupt,
        vm_irq=hardware.vm_interrupt,
        devices=_mask(devices),
        nclients=len(system.sharers),
        clients_offset=shared_image.IMAGE.size,
        **_flash(devices.get("flash"), hardware),
        **_channels(devices, hardware),
        **screen_fields(devices.get("display"), system.sharers, hardware),
        **uart_fields(devices.get("uart"), system.sharers, hardware),
    )
    return head + b"".join(_client(vm, hardware) for vm in system.sharers)


SECTION = Section(shared_image.TAG, shared_image.LARGEST, lambda system: bool(system.sharers), lambda _: [], section)
