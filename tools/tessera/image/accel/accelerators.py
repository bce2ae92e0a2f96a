# SPDX-License-Identifier: Apache-2.0
"""The devices of the fabric: reads and checks them, assigns them to VMs, and writes their section of the
system image."""

from collections.abc import Callable
from pathlib import Path

from tessera.cheader import Record
from tessera.fabric import series7
from tessera.fabric.bitstream import BitstreamError, body_words, check_body, read_header, tag
from tessera.fabric.series7 import Series7Error
from tessera.image import virtual
from tessera.image.accel import accel_image
from tessera.image.accel.overlays import overlay_rows
from tessera.image.files import load_bitstream
from tessera.image.model import Accelerator, Bitstream, Board, Fabric, File, System, Vm, VmAccelerator
from tessera.image.prop_types import suggest
from tessera.image.section import Section
from tessera.image.slices import slice_waits
from tessera.image.validate import Read

HOLD_US = 10_000  # the least automatic hold time


def load_accelerators(system: Read, board: Board, search: tuple[Path, ...]) -> list[Accelerator]:
    """Returns the devices of /accelerators; reports their problems."""
    node = system.children.get("accelerators")
    if node is None:
        return []
    if board.fabric is None:
        node.problem("", f"expected only on a board with a fabric, got it on {board.name}")
        return []
    nodes = _device_nodes(node)
    if not nodes:
        node.problem("", "expected a device or more, got none")
    most = board.fabric.devices
    if len(nodes) > most:
        nodes[most].problem("", f"expected at most {most} devices on {board.name}, got {len(nodes)}")
    return [
        Accelerator(number, device, _bitstreams(device, board.name, board.fabric, search))
        for number, device in enumerate(nodes)
        if device.sound
    ]


def _device_nodes(node: Read | None) -> list[Read]:
    return [child for name, child in node.children.items() if name != "overlays"] if node else []


def _bitstreams(node: Read, board: str, fabric: Fabric, search: tuple[Path, ...]) -> tuple[Bitstream, ...]:
    """Returns the bitstreams of a device, as far as they have no problem."""
    regions = _regions(node, board, fabric)
    names = node["bitstreams"]
    if regions and len(names) != len(regions):
        listed = ", ".join(map(str, regions))
        node.problem("bitstreams", f"expected one file for each region, {listed}, got {len(names)}")
        return ()
    found = [
        Bitstream(region, file)
        for region, name in zip(regions, names, strict=False)
        if (file := _bitstream(node, region, name, search)) is not None and _fits(node, name, file, region, fabric)
    ]
    return tuple(sorted(found, key=lambda bitstream: bitstream.region))


def _regions(node: Read, board: str, fabric: Fabric) -> tuple[int, ...]:
    """Returns the regions that may hold the device, in the order of the bitstreams; none if there is a
    problem."""
    classes, least = fabric.size_classes, node["size-class"]
    if least > max(classes):
        node.problem("size-class", f"expected at most {max(classes)}, the largest region of {board}, got {least}")
        return ()
    if not node.given("regions"):
        return tuple(region for region, size in enumerate(classes) if size >= least)
    for region in node["regions"]:
        if region >= len(classes):
            node.problem("regions", f"expected regions of {board}, 0 to {len(classes) - 1}, got {region}")
        elif classes[region] < least:
            got = f"got {region} of size class {classes[region]}"
            node.problem("regions", f"expected regions of size class {least} or larger, {got}")
    return node["regions"] if node.sound else ()


def _bitstream(node: Read, region: int, name: str, search: tuple[Path, ...]) -> File | None:
    """Returns a bitstream's file; None, with a problem, if it is not one of the region and the task."""
    file = load_bitstream(node, name, search)
    if file is None:
        return None
    try:
        header = read_header(file.data)
    except BitstreamError as error:
        node.problem("bitstreams", f'"{name}" is not a bitstream: {error}')
        return None
    if (header.region, header.task) != (region, node["task"]):
        expected = f"expected a bitstream of task {node['task']} for region {region}"
        node.problem("bitstreams", f'{expected}, got "{name}" of task {header.task} for region {header.region}')
        return None
    return file


def _fits(node: Read, name: str, file: File, region: int, fabric: Fabric) -> bool:
    """Whether a bitstream writes frames of the region only; reports a problem if not. False without known frames, which
    is reported already (with_frames())."""
    if not fabric.frames[region]:
        return False
    try:
        _check_body(file.data, region, fabric)
    except (BitstreamError, Series7Error) as error:
        node.problem("bitstreams", f'"{name}" is not a bitstream for region {region}: {error}')
        return False
    return True


def _check_body(data: bytes, region: int, fabric: Fabric) -> None:
    """Raises BitstreamError or Series7Error if a bitstream writes frames of another region than its own, or is
    malformed."""
    blocks = fabric.frames[region]
    if fabric.idcode:
        series7.check(body_words(data), fabric.idcode, [series7.Frames(*block) for block in blocks])
    else:
        (block,) = blocks
        check_body(data, read_header(data), *block)


def signed(system: System, bitstream: Bitstream) -> bytes:
    """Returns a bitstream as the image has it, followed by its tag."""
    assert system.board.fabric is not None, "load_accelerators() refuses devices without a fabric"
    return bitstream.file.data + tag(bitstream.file.data, system.board.fabric.key)


def assign_accelerators(system: Read, vms: list[Vm], devices: list[Accelerator], board: Board) -> None:
    """Gives each VM the devices that it names, and its number in the fabric; reports names without a
    device, and VMs beyond those that the fabric serves."""
    node = system.children.get("accelerators")
    clients = [vm for vm in vms if "accelerators" in vm.node.children]
    for vm in clients:
        uses = vm.node.children["accelerators"]
        _check_uses(uses, [device.name for device in _device_nodes(node)])
        vm.accelerators = [
            VmAccelerator(device, uses.children[device.name]) for device in devices if device.name in uses.children
        ]
    if board.fabric is not None:
        _number(clients, board.name, board.fabric)
    _check_monitors(vms, node)


def check_units(system: System) -> None:
    """Reports units beyond the VMs that the fabric serves, and devices that no VM uses. Needs the VMs' functions."""
    node, fabric = system.node.children.get("accelerators"), system.board.fabric
    named = [one.node for vm in system.vms for one in vm.functions if one.node["unit"]]
    clients = [vm for vm in system.vms if "accelerators" in vm.node.children]
    if node is not None and not named and not clients:
        node.problem("", "expected a VM with a node accelerators, or a function with a unit, got none")
    if fabric is not None:
        _check_number(system, named, fabric.vms - bool(system.overlays) - len(clients))


def _check_number(system: System, named: list[Read], most: int) -> None:
    if named and len(named) > most:
        expected = f"expected fewer VMs with accelerators and functions with a unit on {system.board.name}"
        named[max(most, 0)].problem("unit", f"{expected}, at most {max(most, 0)} units here, got {len(named)}")


def _check_uses(uses: Read, known: list[str]) -> None:
    """Reports devices of a VM that are not among the `known` ones."""
    for use in uses.children.values():
        if use.name not in known:
            guess = suggest(use.name, known) or f" ({', '.join(known) or 'there are none'})"
            use.problem("", f'expected the name of a device of /accelerators, got "{use.name}"{guess}')
    if not uses.children:
        uses.problem("", "expected a device or more, got none")


def _check_monitors(vms: list[Vm], accelerators: Read | None) -> None:
    """Reports monitors of a system without accelerators."""
    for vm in vms:
        if accelerators is None and vm.node["accelerator-monitor"]:
            vm.node.problem("accelerator-monitor", "expected only in a system with /accelerators")


def _number(clients: list[Vm], board: str, fabric: Fabric) -> None:
    for number, vm in enumerate(clients):
        vm.fabric_irq = fabric.vm_interrupt + number
        if number == fabric.vms:
            got = f"got {len(clients)}"
            vm.node.children["accelerators"].problem(
                "", f"expected at most {fabric.vms} VMs with accelerators on {board}, {got}"
            )


def _array(record: Record, rows: list[dict[str, int | bytes]]) -> bytes:
    return b"".join(record.pack(**row) for row in rows)


def _clients(system: System) -> list[dict[str, int | bytes]]:
    """Returns the VMs with accelerators, and behind them the units, which are clients of their own."""
    vms = [(vm, int(vm.node["accelerator-priorities"]), 0) for vm in system.clients]
    units = [(vm, 0, 1) for vm, _ in system.units]
    return [
        {"vm": vm.id, "event_irq": virtual.ACCEL_EVENT_IRQ, "may_raise": may_raise, "operated": operated}
        for vm, may_raise, operated in vms + units
    ]


def _devices(system: System) -> list[dict[str, int | bytes]]:
    return [
        {
            "name": device.name.encode(),
            "regions": sum(1 << bitstream.region for bitstream in device.bitstreams),
            **device.node.fields,
        }
        for device in system.accelerators
    ]


def _bitstream_rows(system: System, offset_of: Callable[[bytes], int]) -> list[dict[str, int | bytes]]:
    return [
        {
            "device": device.number,
            "region": bitstream.region,
            "offset": offset_of(signed(system, bitstream)),
            "size": len(bitstream.file.data),
            "verify": int(device.node["verify"]),
        }
        for device in system.accelerators
        for bitstream in device.bitstreams
    ]


def _accels(system: System) -> list[dict[str, int | bytes]]:
    vms = [
        (number, use.device, use.node["priority"], use.node["model"])
        for number, vm in enumerate(system.clients)
        for use in vm.accelerators
    ]
    units = [
        (number, one.unit, one.node["unit-priority"], "native")
        for number, (_, one) in enumerate(system.units, len(system.clients))
        if one.unit
    ]
    return [
        {
            "client": number,
            "device": device.number,
            "priority": priority,
            "model": accel_image.MODELS[model],
            "gpa": device.address,
        }
        for number, device, priority, model in vms + units
    ]


def hold_us(system: System) -> int:
    """Returns `hold-us` of a system with accelerators. A region must not expire before its VM has got
    a slice: VMs that share it would take it from each other without end."""
    longest, _ = slice_waits(system.node, [vm.node for vm in system.vms])
    automatic = min(max(HOLD_US, 2 * longest), accel_image.LONGEST_US)
    return int(system.node.children["accelerators"]["hold-us"]) or automatic


def _sources(system: System) -> int:
    """Returns the number of interrupts beside the fabric's: the UART's, those of passed-through devices, and of shared
    ones their manager's and the VMs'."""
    shared = 1 + len(system.sharers) if system.sharers else 0
    return 1 + len(system.devices) + shared


def _timers(system: System) -> int:
    """Returns the number of software timers of the hypervisor: one for each VCPU, two for each VM (watchdog, clock),
    one for each passed-through device, the console's, three of the manager and one for all units; for shared
    devices one for each of their VMs and one of their manager; one for all PCI functions."""
    vcpus = sum(vm.vcpus for vm in system.vms)
    shared = 1 + len(system.sharers) if system.sharers else 0
    components = bool(system.units) + system.has_functions
    return vcpus + 2 * len(system.vms) + len(system.devices) + 4 + shared + components


def _frames(fabric: Fabric) -> list[dict[str, int | bytes]]:
    return [
        {"region": region, "first": first, "count": count, "reserved": 0}
        for region, blocks in enumerate(fabric.frames)
        for first, count in blocks
    ]


def _tables(
    system: System, offset_of: Callable[[bytes], int]
) -> dict[str, tuple[Record, list[dict[str, int | bytes]]]]:
    """Returns the arrays of the section, in their order."""
    fabric, overlays = system.board.fabric, overlay_rows(system)
    assert fabric is not None, "load_accelerators() refuses devices without a fabric"
    return {
        "frames": (accel_image.FRAMES, _frames(fabric)),
        "clients": (accel_image.CLIENT, _clients(system)),
        "devices": (accel_image.DEVICE, _devices(system)),
        "bitstreams": (accel_image.BITSTREAM, _bitstream_rows(system, offset_of)),
        "accels": (accel_image.ACCEL, _accels(system)),
        "overlays": (accel_image.OVERLAY, overlays.overlays),
        "fragments": (accel_image.FRAGMENT, overlays.fragments),
        "provided": (accel_image.PROVIDED, overlays.provided),
    }


def section(system: System, offset_of: Callable[[bytes], int]) -> bytes:
    """Returns the section of a system with accelerators. `offset_of` gives the offset of a payload from
    the image's header."""
    fabric, node = system.board.fabric, system.node.children["accelerators"]
    assert fabric is not None, "load_accelerators() refuses devices without a fabric"
    body = b""
    numbers: dict[str, int] = {}
    for name, (record, rows) in _tables(system, offset_of).items():  # the size of each record is a multiple of 8
        numbers |= {f"n{name}": len(rows), f"{name}_offset": accel_image.IMAGE.size + len(body)}
        body += _array(record, rows)
    head = accel_image.IMAGE.pack(
        fabric=fabric.base,
        irq=fabric.interrupt,
        regions=len(fabric.size_classes),
        idcode=fabric.idcode,
        hold_cycles=fabric.cycles(hold_us(system)),
        stop_cycles=fabric.cycles(node["stop-us"]),
        clock_khz=fabric.clock_hz // 1000,
        interrupt_cycles=fabric.interrupt_cycles,
        section_ns=system.board.section_ns(system.harts, system.has_functions),
        sources=_sources(system),
        timers=_timers(system),
        reserved=0,
        monitors=sum(1 << vm.id for vm in system.vms if vm.node["accelerator-monitor"]),
        **numbers,
    )
    return head + body


def _payloads(system: System) -> list[bytes]:
    return [signed(system, bitstream) for device in system.accelerators for bitstream in device.bitstreams]


SECTION = Section(accel_image.TAG, accel_image.LARGEST, lambda system: bool(system.accelerators), _payloads, section)
