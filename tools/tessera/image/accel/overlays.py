# SPDX-License-Identifier: Apache-2.0
"""Overlays of the fabric: reads and checks /accelerators/overlays and the VMs that use them, and gives the rows of the
image's section."""

from dataclasses import dataclass

from tessera.image.accel import accel_image
from tessera.image.fixups import find_status
from tessera.image.model import Accelerator, Board, Overlay, System, Vm
from tessera.image.prop_types import suggest
from tessera.image.validate import Read


@dataclass(frozen=True)
class Rows:
    """The rows of the section's tables."""

    overlays: list[dict[str, int | bytes]]
    fragments: list[dict[str, int | bytes]]
    provided: list[dict[str, int | bytes]]


def load_overlays(accelerators: Read | None, devices: list[Accelerator]) -> list[Overlay]:
    """Returns the overlays of /accelerators/overlays; reports their problems."""
    node = accelerators.children.get("overlays") if accelerators else None
    if node is None:
        return []
    nodes = list(node.children.values())
    if not nodes:
        node.problem("", "expected an overlay or more, got none")
    if len(nodes) > accel_image.MAX_OVERLAYS:
        nodes[accel_image.MAX_OVERLAYS].problem(
            "", f"expected at most {accel_image.MAX_OVERLAYS} overlays, got {len(nodes)}"
        )
    return [Overlay(one, _fragments(one, devices)) for one in nodes if one.sound]


def _fragments(node: Read, devices: list[Accelerator]) -> tuple[tuple[int, Accelerator], ...]:
    """Returns each region of an overlay with its device, as far as they have no problem."""
    known = {device.name: device for device in devices}
    regions, names = node["regions"], node["devices"]
    if len(regions) != len(names):
        node.problem("devices", f"expected a device for each of the regions, {len(regions)}, got {len(names)}")
        return ()
    for name in names:
        if name not in known:
            node.problem(
                "devices", f'expected names of devices of /accelerators, got "{name}"{suggest(name, list(known))}'
            )
    fragments = [(region, known[name]) for region, name in zip(regions, names, strict=True) if name in known]
    for region, device in fragments:
        if region not in [bitstream.region for bitstream in device.bitstreams]:
            node.problem("regions", f"expected regions of {device.name}, got {region}")
    return tuple(fragments)


def assign_overlays(accelerators: Read | None, vms: list[Vm], overlays: list[Overlay], board: Board) -> None:
    """Checks the names of overlays in VMs, and the limits of the fabric."""
    node = accelerators.children.get("overlays") if accelerators else None
    known = list(node.children) if node else []
    for vm in vms:
        for name in vm.node["overlays"]:
            _check_name(vm.node, "overlays", name, known)
        for use in vm.accelerators:
            if use.node["overlay"]:
                _check_name(use.node, "overlay", use.node["overlay"], known)
    for overlay in overlays:
        _check_overlay(overlay, vms)
    if node is not None:
        _check_clients(node, vms, board)


def _check_name(node: Read, prop: str, name: str, known: list[str]) -> None:
    if name not in known:
        guess = suggest(name, known) or f" ({', '.join(known) or 'there are none'})"
        node.problem(prop, f'expected the name of an overlay of /accelerators/overlays, got "{name}"{guess}')


def _check_overlay(overlay: Overlay, vms: list[Vm]) -> None:
    if not any(overlay.name in vm.node["overlays"] for vm in vms):
        overlay.node.problem("", f'expected a VM with "{overlay.name}" in overlays, got none')
    given = sum(use.node["overlay"] == overlay.name for vm in vms for use in vm.accelerators)
    if given > accel_image.MAX_PROVIDED:
        overlay.node.problem(
            "", f"expected at most {accel_image.MAX_PROVIDED} devices of VMs with this overlay, got {given}"
        )


def _check_clients(node: Read, vms: list[Vm], board: Board) -> None:
    """The hypervisor itself is a client of the fabric while it applies an overlay."""
    clients = [vm for vm in vms if vm.accelerators]
    if board.fabric is not None and len(clients) >= board.fabric.vms:
        most = f"at most {board.fabric.vms - 1} VMs with accelerators on {board.name}"
        node.problem("", f"expected {most} in a system with overlays, got {len(clients)}")


def overlay_rows(system: System) -> Rows:
    """Returns the rows of all overlays. The VMs' loads hold the compiled device trees."""
    rows = Rows([], [], [])
    for overlay in system.overlays:
        provided: list[dict[str, int | bytes]] = [
            {"client": number, "device": use.device.number, "status": _status(vm, use.device)}
            for number, vm in enumerate(system.clients)
            for use in vm.accelerators
            if use.node["overlay"] == overlay.name
        ]
        rows.overlays.append(
            {
                "name": overlay.name.encode(),
                "controllers": sum(1 << vm.id for vm in system.vms if overlay.name in vm.node["overlays"]),
                "first_fragment": len(rows.fragments),
                "nfragments": len(overlay.fragments),
                "first_provided": len(rows.provided),
                "nprovided": len(provided),
                "reserved": 0,
            }
        )
        rows.fragments.extend({"region": region, "device": device.number} for region, device in overlay.fragments)
        rows.provided.extend(provided)
    return rows


def _status(vm: Vm, device: Accelerator) -> int:
    """Returns the guest-physical address of the length of `status` in the node of a VM's device."""
    return vm.dtb_address + find_status(vm.loads[-1].data, device.address)
