# SPDX-License-Identifier: Apache-2.0
"""Virtual PCI functions: reads and checks them, assigns them to VMs, and writes their section of the system image."""

from collections.abc import Callable, Mapping
from pathlib import Path

from tessera.image.accel import accel_image
from tessera.image.files import load_disk
from tessera.image.layout import align_up
from tessera.image.model import Accelerator, PciFunction, Shared, System, Vm
from tessera.image.prop_types import size_text, suggest
from tessera.image.section import Section
from tessera.image.shared import shared_image
from tessera.image.shared.display import shows_framebuffer
from tessera.image.validate import Read
from tessera.image.virtio import hostpci, virtio_image

NODE = "pci"
NETWORKS = "networks"
DEFAULT_MAC = bytes.fromhex("02540000")  # a locally administered address; the numbers of VM and slot follow

# The properties that only functions of a model have.
_PROPS = {
    "virtio-net": ("network", "mac", "vlan", "uplink", "frames-per-ms", "multicast-per-ms"),
    "virtio-blk": ("size", "image", "read-only", "served-by", "offset"),
    "virtio-console": ("line",),
    "virtio-vsock": ("cid", "peers"),
    "ivshmem": ("shared",),
    "accelerator": ("device", "dma-memory"),
    "hardware-io": ("dma-memory",),
    "host": ("function",),
    "virtio-crypto": ("unit", "unit-priority"),
}
# The models that have each of them.
_OWNERS = {prop: [model for model, props in _PROPS.items() if prop in props] for prop in sum(_PROPS.values(), ())}
_REQUIRED = {
    "virtio-net": ("network", "the name of a network"),
    "virtio-blk": ("size", "the disk's size, or image, its first content"),
    "virtio-console": ("line", "the name of a line"),
    "ivshmem": ("shared", "the name of a shared region"),
    "accelerator": ("device", "the name of a device of the VM's accelerators"),
    "host": ("function", "a PCI function of the machine"),
}


def load_functions(system: Read, vms: list[Vm], devices: list[Accelerator], search: tuple[Path, ...]) -> list[str]:
    """Gives each VM its functions; returns the names of the networks. Reports problems of /networks and of the VMs'
    nodes."""
    networks = _section(system, NETWORKS)
    if NETWORKS in system.children and not networks:
        system.children[NETWORKS].problem("", "expected a network or more, got none")
    _check_number(networks, virtio_image.MAX_NETWORKS, "networks")
    _check_nodes(system, networks)
    for vm in vms:
        vm.functions = _functions_of(vm, devices, search)
        _check_regions(vm)
        _check_devices(vm)
        _check_hardware_io(vm)
        _check_dma_memory(vm)
    functions = [function for vm in vms for function in vm.functions]
    _find_offloads(functions, networks)
    _check_macs(functions)
    _check_uplinks(functions)
    _check_cids(functions)
    _check_parts(functions)
    return [network.name for network in networks]


def _section(node: Read, name: str) -> list[Read]:
    return list(node.children[name].children.values()) if name in node.children else []


def _check_nodes(system: Read, networks: list[Read]) -> None:
    """Reports the problems of functions that do not need the model of their VMs."""
    shared = _section(system, "shared")
    buses = [(vm, vm.children[NODE]) for vm in _section(system, "vms") if NODE in vm.children]
    nodes = [(vm, node) for vm, bus in buses for node in bus.children.values()]
    _check_number([node for _, node in nodes], virtio_image.MAX_FUNCTIONS, "PCI functions in all VMs")
    for _, bus in buses:
        _check_bus(bus)
    for vm, node in nodes:
        _check_properties(node)
        _check_network(node, networks)
        _check_shared(node, vm, shared)
        _check_device(node, vm)
        _check_unit(node, _section(system, "accelerators"))
    _check_used(networks, [node for _, node in nodes])
    _check_vsocks(nodes)
    _check_servers(nodes)
    _check_lines([node for _, node in nodes])


def _check_lines(functions: list[Read]) -> None:
    """Reports lines that do not have two ends."""
    ends: dict[str, list[Read]] = {}
    for node in functions:
        lines = node["line"] or ()
        if len(lines) > virtio_image.CONSOLE_PORTS:
            node.problem("line", f"expected at most {virtio_image.CONSOLE_PORTS} lines, got {len(lines)}")
        for name in lines:
            if not (1 <= len(name) < virtio_image.CONSOLE_NAME and name.isascii() and name.isprintable()):
                most = virtio_image.CONSOLE_NAME - 1
                node.problem("line", f'expected names of 1 to {most} printable ASCII characters, got "{name}"')
            ends.setdefault(name, []).append(node)
    for name, nodes in ends.items():
        if len(nodes) != 2:
            nodes[-1].problem("line", f'expected two functions with the line "{name}", got {len(nodes)}')


def _check_bus(bus: Read) -> None:
    _check_number(list(bus.children.values()), virtio_image.MAX_FUNCTIONS_PER_VM, "PCI functions of a VM")
    if not bus.children:
        bus.problem("", "expected a function or more, got none")


def _check_number(nodes: list[Read], most: int, words: str) -> None:
    if len(nodes) > most:
        nodes[most].problem("", f"expected at most {most} {words}, got {len(nodes)}")


def _check_properties(node: Read) -> None:
    """Reports properties of other models, and those that are missing."""
    model = node["model"]
    if model is None:
        return
    for prop, owners in _OWNERS.items():
        if model not in owners and node.given(prop):
            expected = f"expected only on a function of model {' or '.join(owners)}"
            node.problem(prop, f"{expected}, got it on one of model {model}")
    if model in _REQUIRED:
        prop, words = _REQUIRED[model]
        if not node.given(prop) and not (model == "virtio-blk" and node.given("image")):
            node.problem(prop, f"missing; expected {words}")


def _check_network(node: Read, networks: list[Read]) -> None:
    name = node["network"]
    known = [network.name for network in networks]
    if name is not None and name not in known:
        guess = suggest(name, known) or f" ({', '.join(known) or 'there are none'})"
        node.problem("network", f'expected the name of a network of /{NETWORKS}, got "{name}"{guess}')


def _check_shared(node: Read, vm: Read, shared: list[Read]) -> None:
    """Reports the name of no region, or of one that the VM does not share. Unknown VMs of a region are reported
    there."""
    name = node["shared"]
    known = [region.name for region in shared if region["vms"] is None or vm.name in region["vms"]]
    if name is not None and name not in known:
        guess = suggest(name, known) or f" ({', '.join(known) or 'there are none'})"
        node.problem("shared", f'expected the name of a shared region of {vm.path}, got "{name}"{guess}')


def _check_device(node: Read, vm: Read) -> None:
    """Reports a device that the VM does not have, or has only while an overlay is applied."""
    name, uses = node["device"], {use.name: use for use in _section(vm, "accelerators")}
    if name is not None and name not in uses:
        guess = suggest(name, list(uses)) or f" ({', '.join(uses) or 'there are none'})"
        node.problem("device", f'expected the name of a device of {vm.path}/accelerators, got "{name}"{guess}')
    elif name is not None and uses[name]["overlay"]:
        got = f'got "{name}" of overlay {uses[name]["overlay"]}'
        node.problem("device", f"expected a device that the VM always has, not one of an overlay, {got}")


def _check_unit(node: Read, devices: list[Read]) -> None:
    """Reports the name of no device, or of one that does not compute AES, and a priority without a unit."""
    tasks = {device.name: device["task"] for device in devices if device.name != "overlays"}
    name = node["unit"]
    if name is None:
        if node.given("unit-priority"):
            node.problem("unit-priority", "expected only with a unit")
    elif name not in tasks:
        guess = suggest(name, list(tasks)) or f" ({', '.join(tasks) or 'there are none'})"
        node.problem("unit", f'expected the name of a device of /accelerators, got "{name}"{guess}')
    elif tasks[name] != accel_image.AES128_TASK:
        expected = f"expected a device of task {accel_image.AES128_TASK}, AES-128"
        node.problem("unit", f'{expected}, got "{name}" of task {tasks[name]}')


def _check_used(networks: list[Read], nodes: list[Read]) -> None:
    """Reports networks without a function, unless a function has no known network: it may be a function of theirs."""
    used = {node["network"] for node in nodes if node["model"] == "virtio-net"}
    complete = used <= {network.name for network in networks}
    for network in networks:
        if complete and network.name not in used:
            network.problem("", "expected a VM with a function on this network, got none")


def _check_vsocks(nodes: list[tuple[Read, Read]]) -> None:
    """Reports a second function of a VM, and peers that have none."""
    owners: dict[str, Read] = {}
    vsocks = [(vm, node) for vm, node in nodes if node["model"] == "virtio-vsock"]
    for vm, node in vsocks:
        if owners.setdefault(vm.name, node) is not node:
            node.problem("", f"expected one virtio-vsock for a VM, got a second one after {owners[vm.name].path}")
    for vm, node in vsocks:
        _check_peers(node, [name for name in owners if name != vm.name])


def _check_servers(nodes: list[tuple[Read, Read]]) -> None:
    """Reports a second disk server of a VM, one without disks, and disks of no server."""
    servers: dict[str, Read] = {}
    for vm, node in nodes:
        if node["model"] == "disk-server" and servers.setdefault(vm.name, node) is not node:
            node.problem("", f"expected one disk-server for a VM, got a second one after {servers[vm.name].path}")
    disks = [(vm, node) for vm, node in nodes if node["model"] == "virtio-blk"]
    for vm, node in disks:
        _check_served(node, [name for name in servers if name != vm.name])
    _check_served_disks(servers, {node["served-by"] for _, node in disks} - {None})


def _check_served_disks(servers: dict[str, Read], named: set[str]) -> None:
    """Reports servers without a disk, unless a disk has no known server: it may be one of theirs."""
    for name, node in servers.items():
        if name not in named and named <= servers.keys():
            node.problem("", f'expected a virtio-blk of another VM with served-by = "{name}", got none')


def _check_served(node: Read, servers: list[str]) -> None:
    name = node["served-by"]
    if name is None:
        if node.given("offset"):
            node.problem("offset", "expected only with served-by")
        return
    if name not in servers:
        guess = suggest(name, servers) or f" ({', '.join(servers) or 'there are none'})"
        node.problem("served-by", f'expected the name of another VM with a disk-server, got "{name}"{guess}')
    if node.given("image"):
        node.problem("image", f'expected no first content of a disk that "{name}" serves, which has its content')


def _check_peers(node: Read, others: list[str]) -> None:
    for name in node["peers"] or ():
        if name not in others:
            guess = suggest(name, others) or f" ({', '.join(others) or 'there are none'})"
            node.problem("peers", f'expected names of other VMs with a virtio-vsock, got "{name}"{guess}')


def _functions_of(vm: Vm, devices: list[Accelerator], search: tuple[Path, ...]) -> list[PciFunction]:
    """Returns the functions of the VM, as far as they have no problem."""
    nodes = vm.node.children[NODE].children.values() if NODE in vm.node.children else ()
    return [_function(vm, slot, node, devices, search) for slot, node in enumerate(nodes) if node.sound]


def _function(vm: Vm, slot: int, node: Read, devices: list[Accelerator], search: tuple[Path, ...]) -> PciFunction:
    function = PciFunction(slot, node, unit=_named(devices, node["unit"]))
    if function.model == "virtio-net":
        function.mac = node["mac"] or DEFAULT_MAC + bytes((vm.id % 256, slot % 256))  # larger numbers are reported
    elif function.model == "virtio-vsock":
        function.cid = node["cid"] or virtio_image.SMALLEST_CID + vm.id
    elif function.model == "ivshmem":
        function.region = _region(vm, node)
    elif function.model == "accelerator":
        function.device = _named([use.device for use in vm.accelerators], node["device"])
    elif function.model == "virtio-blk":
        _read_disk(function, search)
    return function


def _read_disk(function: PciFunction, search: tuple[Path, ...]) -> None:
    node = function.node
    function.content = load_disk(node, "image", search) if node["image"] else None
    size = len(function.content.data) if function.content else 0
    function.disk_size = node["size"] or align_up(size, virtio_image.SECTOR)
    function.server, function.offset = node["served-by"] or "", node["offset"]


def _named(devices: list[Accelerator], name: str | None) -> Accelerator | None:
    """Returns the device of this name, None if it has a problem."""
    return next((device for device in devices if device.name == name), None)


def _region(vm: Vm, node: Read) -> Shared | None:
    """Returns the region of an ivshmem, None if the region has a problem; reports one that cannot be a BAR."""
    region = next((one for one in vm.shared if one.name == node["shared"]), None)
    if region and (region.size & (region.size - 1) or region.base % region.size or not region.base):
        expected = "expected a region whose size is a power of two and whose address is a multiple of it, not 0"
        node.problem("shared", f"{expected}, got {region.node.path} of {size_text(region.size)} at {region.base:#x}")
    return region


def _check_regions(vm: Vm) -> None:
    owners: dict[str, PciFunction] = {}
    for function in vm.functions:
        if function.region and owners.setdefault(function.region.name, function) is not function:
            name = function.region.name
            got = f'got "{name}", which {owners[name].node.path} has'
            function.node.problem("shared", f"expected a region that no other function of the VM has, {got}")


def _check_devices(vm: Vm) -> None:
    owners: dict[str, PciFunction] = {}
    for function in vm.functions:
        if function.device and owners.setdefault(function.device.name, function) is not function:
            name = function.device.name
            got = f'got "{name}", which {owners[name].node.path} has'
            function.node.problem("device", f"expected a device that no other function of the VM has, {got}")


def _check_hardware_io(vm: Vm) -> None:
    """Reports functions of VMs without pages of shared devices, and a second one of a VM."""
    owners = [function.node for function in vm.functions if function.is_hardware_io]
    for node in owners[1:]:
        node.problem("model", f"expected one hardware-io for a VM, got a second one after {owners[0].path}")
    pages = [use for name, use in vm.shared_devices.items() if name != "display" or not shows_framebuffer(use)]
    if owners and not pages:
        words = "shared devices, other than a display that shows a simple framebuffer"
        owners[0].problem("model", f"expected hardware-io only on a VM with {words}, got it without")


def _check_dma_memory(vm: Vm) -> None:
    """Reports functions whose BAR 2 cannot be the VM's memory for DMA."""
    owners = [function.node for function in vm.functions if function.has_dma_memory]
    for node in owners[1:]:
        got = f"got it also in {owners[0].path}"
        node.problem("dma-memory", f"expected one function of the VM with its memory for DMA, {got}")
    for node in owners[:1]:
        if not vm.dma:
            node.problem("dma-memory", "expected only on a function of a VM with dma-memory, got it without")
        elif vm.dma.size & (vm.dma.size - 1) or vm.dma.base % vm.dma.size:
            expected = (
                "expected memory for DMA whose size is a power of two and whose address is a multiple of it, as a BAR"
            )
            node.problem("dma-memory", f"{expected} is, got {size_text(vm.dma.size)} at {vm.dma.base:#x}")


def _find_offloads(functions: list[PciFunction], networks: list[Read]) -> None:
    offloads = {network.name for network in networks if network["offloads"]}
    for function in functions:
        function.offloads = function.model == "virtio-net" and function.node["network"] in offloads


def _check_macs(functions: list[PciFunction]) -> None:
    owners: dict[tuple[str, bytes], Read] = {}
    for function in functions:
        if function.model == "virtio-net":
            node, mac = function.node, function.mac
            owner = owners.setdefault((node["network"], mac), node)
            if owner is not node:
                expected = f"expected an address that no other function has on network {node['network']}"
                node.problem("mac", f"{expected}, got [{mac.hex(' ')}], which {owner.path} has")


def _check_uplinks(functions: list[PciFunction]) -> None:
    owners: dict[tuple[str, int], Read] = {}
    for node in (function.node for function in functions if function.model == "virtio-net" and function.node["uplink"]):
        owner = owners.setdefault((node["network"], node["vlan"]), node)
        if owner is not node:
            node.problem("uplink", f"expected one uplink of a network and VLAN, got another one after {owner.path}")


def _check_cids(functions: list[PciFunction]) -> None:
    owners: dict[int, Read] = {}
    for function in functions:
        if function.model == "virtio-vsock":
            node, cid = function.node, function.cid
            if owners.setdefault(cid, node) is not node:
                node.problem(
                    "cid", f"expected a context id that no other VM has, got {cid}, which {owners[cid].path} has"
                )


def _check_parts(functions: list[PciFunction]) -> None:
    """Reports parts of a server's disk that overlap."""
    parts: list[PciFunction] = []
    for function in (one for one in functions if one.server):
        start, end = function.offset, function.offset + function.disk_size
        for other in parts:
            behind = other.offset + other.disk_size
            if other.server == function.server and start < behind and other.offset < end:
                expected = f"expected a part of the disk of {function.server} that no other function has"
                got = f"got {start:#x}..{end:#x}, which overlaps {other.node.path} at {other.offset:#x}..{behind:#x}"
                function.node.problem("offset", f"{expected}, {got}")
        parts.append(function)


# The section


def _named_peers(system: System) -> dict[str, set[str]]:
    """Returns for each VM with a virtio-vsock the other VMs that its function names."""
    vsocks = {vm.name: function for vm in system.vms for function in vm.functions if function.model == "virtio-vsock"}
    return {name: set(function.node["peers"] or vsocks) - {name} for name, function in vsocks.items()}


def _peers(system: System, vm: Vm) -> int:
    """Returns the mask of the VMs with which the VM may exchange packets: those which it names, and which name it."""
    named = _named_peers(system)
    return sum(1 << other.id for other in system.vms if other.name in named[vm.name] and vm.name in named[other.name])


def _net(system: System, function: PciFunction) -> dict[str, int]:
    node = function.node
    return {
        "flags": (virtio_image.UPLINK if node["uplink"] else 0) | (virtio_image.OFFLOADS if function.offloads else 0),
        "mac": int.from_bytes(function.mac, "big"),
        "network": system.networks.index(node["network"]),
        **node.fields,
    }


def _served(system: System, function: PciFunction) -> dict[str, int]:
    """Returns the fields of a disk of which another VM is the server, by its function's number among all functions."""
    functions = [(vm.name, one.model) for vm in system.vms for one in vm.functions]
    return {
        "flags": virtio_image.SERVED | (virtio_image.READ_ONLY if function.node["read-only"] else 0),
        "disk": function.offset,
        "disk_size": function.disk_size,
        "server": functions.index((function.server, "disk-server")),
    }


def _disk(function: PciFunction, offset_of: Callable[[bytes], int]) -> dict[str, int]:
    fields = {
        "flags": virtio_image.READ_ONLY if function.node["read-only"] else 0,
        "disk": function.disk_host,
        "disk_size": function.disk_size,
    }
    if function.content:
        fields |= {"content": offset_of(function.content.data), "content_size": len(function.content.data)}
    return fields


def _ends(system: System) -> list[tuple[int, int, str]]:
    """Returns the ends of all lines: the function's number among all functions, its port, and the line's name."""
    functions = [one for vm in system.vms for one in vm.functions]
    consoles = [(number, one) for number, one in enumerate(functions) if one.model == "virtio-console"]
    return [(number, port, line) for number, one in consoles for port, line in enumerate(one.node["line"])]


def _lines(system: System, vm: Vm, function: PciFunction) -> dict[str, int | bytes]:
    """Returns for each port of a console the other end and the name of its line."""
    before = sum(len(other.functions) for other in system.vms if other.id < vm.id)
    own, lines = before + function.slot, function.node["line"]
    others = [next(end for end in _ends(system) if end[2] == line and end[0] != own) for line in lines]
    return {
        "ports": len(lines),
        **{f"other_functions[{port}]": number for port, (number, _, _) in enumerate(others)},
        **{f"other_ports[{port}]": number for port, (_, number, _) in enumerate(others)},
        "names": b"".join(line.encode().ljust(virtio_image.CONSOLE_NAME, b"\0") for line in lines),
    }


def _accelerator(function: PciFunction, device: Accelerator) -> dict[str, int]:
    flags = virtio_image.DMA if function.has_dma_memory else 0
    return {"flags": flags, "device": device.number, "task": device.node["task"]}


def _hardware_io(vm: Vm, function: PciFunction) -> dict[str, int]:
    pages = sum(1 << number for name in vm.shared_pages for number in shared_image.DEVICES[name])
    return {"flags": virtio_image.DMA if function.has_dma_memory else 0, "task": pages}


def _unit(system: System, function: PciFunction) -> dict[str, int]:
    units = [one for _, one in system.units]
    return {"unit": 1 + len(system.clients) + units.index(function)} if function.unit else {}


def _fields(
    system: System, vm: Vm, function: PciFunction, offset_of: Callable[[bytes], int]
) -> Mapping[str, int | bytes]:
    """Returns the fields of the function's own model."""
    fields: dict[str, Callable[[], Mapping[str, int | bytes]]] = {
        "virtio-net": lambda: _net(system, function),
        "virtio-blk": lambda: _served(system, function) if function.server else _disk(function, offset_of),
        "virtio-vsock": lambda: {"cid": function.cid, "peers": _peers(system, vm)},
        "virtio-console": lambda: _lines(system, vm, function),
        "virtio-crypto": lambda: _unit(system, function),
        "ivshmem": lambda: {"shared": function.region.id} if function.region else {},
        "accelerator": lambda: _accelerator(function, function.device) if function.device else {},
        "host": lambda: hostpci.fields(function),
        "hardware-io": lambda: _hardware_io(vm, function),
    }
    return fields.get(function.model, dict)()


def _row(system: System, vm: Vm, function: PciFunction, offset_of: Callable[[bytes], int]) -> bytes:
    fields = virtio_image.FUNCTION.zeros()
    fields |= {"vm": vm.id, "slot": function.slot, "kind": virtio_image.MODELS[function.model]}
    fields |= _fields(system, vm, function, offset_of)
    return virtio_image.FUNCTION.pack(**fields)


def section(system: System, offset_of: Callable[[bytes], int]) -> bytes:
    """Returns the section of a system with functions. `offset_of` gives the offset of a payload from the image's
    header."""
    rows = [_row(system, vm, function, offset_of) for vm in system.vms for function in vm.functions]
    head = virtio_image.IMAGE.pack(nfunctions=len(rows), functions_offset=virtio_image.IMAGE.size)
    return head + b"".join(rows)


def _payloads(system: System) -> list[bytes]:
    return [disk.content.data for disk in system.disks if disk.content]


SECTION = Section(virtio_image.TAG, virtio_image.LARGEST, lambda system: system.has_functions, _payloads, section)
