# SPDX-License-Identifier: Apache-2.0
"""Checks that concern several nodes: counts, the keyboard, the assignment of devices."""

from tessera.image import hostnet, layout, schema
from tessera.image.model import Board, Device
from tessera.image.prop_types import suggest
from tessera.image.slices import slice_waits
from tessera.image.validate import Read
from tessera.image.virtio.pcikinds import device_of

HYPERVISOR_NAME = "tessera"


def check_counts(vms: Read) -> None:
    """Reports problems that concern the nodes of /vms as a whole."""
    nodes = list(vms.children.values())
    if not nodes:
        vms.problem("", f"expected 1 to {layout.MOST_VMS} VMs, got none")
    _check_total(nodes, "vcpus", "VCPUs", layout.MAX_VCPUS - layout.MAX_RT_APPS)
    _check_total(nodes, "rt-apps", "RT apps", layout.MAX_RT_APPS)
    _check_launchers(nodes)
    for node in nodes:
        _check_others(node, "may-send-to", [vm.name for vm in nodes])
    for node in nodes:
        if node.name == HYPERVISOR_NAME:
            node.problem("", f"expected another name: {HYPERVISOR_NAME} is the hypervisor's name on the console")
    keyboards = [node for node in nodes if node["keyboard"]]
    for node in keyboards[1:]:
        node.problem("keyboard", f"expected one VM with the keyboard, got it also in {keyboards[0].path}")


def check_components(system: Read, vms: list[Read], components: tuple[str, ...]) -> None:
    """Reports properties of VMs, and nodes, that need a component which the hypervisor does not
    have."""
    for node, prop, component in _needs(system, vms):
        if component not in components:
            has = " ".join(components) or "none"
            node.problem(
                prop, f"expected a hypervisor with the component {component}, got one with {has} (HYP_COMPONENTS)"
            )


def needs(system: Read, vms: list[Read]) -> list[str]:
    """Returns the components that nodes and properties need, without duplicates."""
    return list(dict.fromkeys(component for _, _, component in _needs(system, vms)))


def _needs(system: Read, vms: list[Read]) -> list[tuple[Read, str, str]]:
    """Returns each node, with the property or an empty string, that needs a component, and the component."""
    found = [(vm, prop.name, prop.component) for vm in vms for prop in vm.schema.props if vm[prop.name]]
    found += [(child, "", child.schema.component) for node in (system, *vms) for child in node.children.values()]
    return [need for need in found if need[2]]


def _check_total(nodes: list[Read], prop: str, words: str, limit: int) -> None:
    total = 0
    for node in nodes:
        before = total
        total += node[prop] or 0
        if before <= limit < total:
            node.problem(prop, f"expected at most {limit} {words} in all VMs, got {total} up to this one")


def _check_others(node: Read, prop: str, names: list[str]) -> None:
    """Reports names in a property of `node` that are not names of other VMs."""
    others = [other for other in names if other != node.name]
    for name in node[prop] or ():
        if name not in others:
            guess = suggest(name, others) or f" ({', '.join(others) or 'there are none'})"
            node.problem(prop, f'expected names of other VMs, got "{name}"{guess}')


def check_shared(nodes: list[Read], names: list[str]) -> None:
    """Reports problems of the nodes of /shared; `names` are the names of the VMs."""
    if len(nodes) > layout.MAX_SHARED:
        nodes[layout.MAX_SHARED].problem("", f"expected at most {layout.MAX_SHARED} regions, got {len(nodes)}")
    for node in nodes:
        vms = node["vms"]
        for name in vms or ():
            if name not in names:
                guess = suggest(name, names) or f" ({', '.join(names)})"
                node.problem("vms", f'expected names of VMs, got "{name}"{guess}')
        if vms is not None and len(vms) < 2:
            node.problem("vms", f"expected two VMs or more, got {len(vms)}")


def _check_launchers(nodes: list[Read]) -> None:
    for node in nodes:
        _check_others(node, "rt-launchers", [vm.name for vm in nodes])
        if node["rt-launchers"] and not node["rt-apps"]:
            node.problem("rt-launchers", "expected only on a VM with rt-apps")


def check_harts(system: Read, board: Board) -> None:
    if system["harts"] and system["harts"] > board.harts:
        system.problem("harts", f"expected at most {board.harts}, the harts of {board.name}, got {system['harts']}")
    if system["virtual-time"] and (system["harts"] or 0) > 1:
        system.problem("virtual-time", f"expected one hart in virtual time, got harts = {system['harts']}")


def check_limits(system: Read, vms: list[Read], board: Board) -> None:
    """Reports VMs, VCPUs and RT apps beyond the limits that the board's hypervisor is built
    with."""
    apps = sum(vm["rt-apps"] or 0 for vm in vms)
    vcpus = apps + sum(vm["vcpus"] or 0 for vm in vms)
    for what, count, limit, any_board in (
        ("VMs", len(vms), board.max_vms, layout.MOST_VMS),
        ("RT apps", apps, board.max_rt_apps, layout.MAX_RT_APPS),
        ("VCPUs and RT apps", vcpus, board.max_vcpus, layout.MAX_VCPUS),
    ):
        if limit < any_board and count > limit:
            system.problem("board", f"expected at most {limit} {what} on {board.name}, got {count}")


def check_watchdogs(system: Read, vms: list[Read]) -> None:
    """Reports watchdogs with a period no longer than the longest wait of a VCPU for its next
    slice."""
    if None in (system["harts"], system["quantum-us"], system["be-reserve-us"]):
        return
    longest, waits = slice_waits(system, vms)
    for vm in vms:
        if 0 < (vm["watchdog-ms"] or 0) * 1000 <= longest:
            got = f"which {' and '.join(waits)} take, got {vm['watchdog-ms']}"
            vm.problem("watchdog-ms", f"expected more than {longest / 1000:g} ms, {got}")


def check_devices(nodes: list[Read], board: Board) -> None:
    """Reports problems of the nodes of /devices, except of their files."""
    used: dict[str, Read] = {}
    for node in nodes:
        if not node.sound:
            continue
        if node.name in board.devices:
            node.problem("", f"expected a name that is not a device of {board.name}")
        slot = node["slot"]
        if _check_slot(node, board) and used.setdefault(slot, node) is not node:
            node.problem("slot", f'expected a free slot, got "{slot}", which {used[slot].path} has')
        _check_model(node)
    hostnet.check_ports(nodes)


def _check_slot(node: Read, board: Board) -> bool:
    """Returns whether the device's slot exists and can have its model; reports one that does not."""
    slots = [device.name for device in board.devices.values() if device.qemu_bus]
    slot, model, expected = node["slot"], node["model"], ""
    if slot in slots:
        if model not in schema.SLOT_MODELS:
            expected = f'expected a PCI function like "00:01.0" for a {model}, got "{slot}"'
    elif not (board.pci and device_of(slot)):
        functions = ' or a PCI function like "00:01.0"' if board.pci else ""
        guess = suggest(slot, slots) or f" ({', '.join(slots)})"
        expected = f'expected a slot of {board.name}{functions}, got "{slot}"{guess}'
    if expected:
        node.problem("slot", expected)
    return not expected


# The properties that only devices of a model have.
_DISKS = ("virtio-blk", "nvme")
_PROPS_OF_MODELS = {_DISKS: ("file", "read-only"), hostnet.MODELS: ("subnet", "forwards")}


def _check_model(node: Read) -> None:
    if node["model"] in _DISKS and not node["file"]:
        node.problem("file", "missing; expected the disk's raw image")
    for models, props in _PROPS_OF_MODELS.items():
        for prop in props:
            if node["model"] not in models and node.given(prop):
                node.problem(prop, f"expected only on a {' or '.join(models)}, got it on a {node['model']}")
    hostnet.check(node)


def check_files(devices: list[Device]) -> None:
    """Reports files of two devices of which one writes to its file: QEMU locks that file. The names may differ."""
    owners: dict[tuple[int, int], Device] = {}
    for device in devices:
        if device.file is None:
            continue
        status = device.file.stat()
        owner = owners.setdefault((status.st_dev, status.st_ino), device)
        if owner is not device and not (owner.node["read-only"] and device.node["read-only"]):
            expected = "expected a file that no other device has, unless both devices are read-only"
            device.node.problem("file", f'{expected}, got "{device.node["file"]}", the file of {owner.node.path}')


def owners(vms: list[Read], devices: list[Read], board: Board) -> dict[str, Read]:
    """Returns the VM of each assigned device of the board; reports devices that are unknown or
    assigned twice."""
    slot_of = {name: name for name in board.devices} | {device.name: device["slot"] for device in devices}
    result: dict[str, Read] = {}
    for vm in vms:
        for name in vm["devices"] or ():
            if name in slot_of:
                _assign(vm, name, slot_of[name] or "", board, result)
            else:
                known = list(slot_of)
                guess = suggest(name, known) or f" ({', '.join(known)})"
                vm.problem("devices", f'expected devices of /devices or of {board.name}, got "{name}"{guess}')
    return result


def _assign(vm: Read, name: str, slot: str, board: Board, result: dict[str, Read]) -> None:
    """Gives the device in the slot to the VM; reports one that is assigned already, and a PCI function."""
    device = board.devices.get(slot)
    if device_of(slot):
        expected = 'expected devices that are no PCI functions, which nodes of pci with model = "host" assign'
        vm.problem("devices", f'{expected}, got "{name}"')
    elif device is None:
        return  # reported with the device
    elif device.name in result:
        got = f'got "{name}" (interrupt {device.interrupt}), which {result[device.name].path} has'
        vm.problem("devices", f"expected a device that no other VM has, {got}")
    else:
        result[device.name] = vm
