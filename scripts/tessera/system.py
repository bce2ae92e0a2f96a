# SPDX-License-Identifier: Apache-2.0
"""Reads a system's file: the schema, then the board, the devices and the guests' files."""

from pathlib import Path

from tessera import schema, virtual
from tessera.board import load_board
from tessera.check_system import check_counts, check_devices, check_harts, owners
from tessera.check_vm import check_vm
from tessera.files import load_file, load_image
from tessera.kinds import suggest
from tessera.layout import FEATURES
from tessera.model import Board, Device, System, Vm
from tessera.place import image_bound, place_guest, place_host
from tessera.problems import BuildError, Problems
from tessera.reading import Read, read
from tessera.source import Source

LONGEST_NAME = 31


def load_system(path: Path, guests: Path, platform_dir: Path, without: tuple[str, ...], hypervisor_size: int) -> System:
    """The checked system of `path` with everything placed.

    guests: directory of the guests' files. platform_dir: directory of the boards. without: features to add to the
    machine mask. hypervisor_size: bytes of the hypervisor's binary. Raises BuildError with all problems.
    """
    check_features(without)
    problems = Problems()
    node = read(Source(str(path)), schema.SYSTEM, problems)
    if len(path.stem) > LONGEST_NAME:
        node.problem("", f'expected a file name of at most {LONGEST_NAME} characters, got "{path.stem}"')
    vms = [_vm(index, vm, guests) for index, vm in enumerate(_section(node, "vms")) if vm.sound]
    if "vms" in node.children:
        check_counts(node.children["vms"])
    board = load_board(node["board"], platform_dir, node) if node["board"] else None
    devices = _devices(node, board, vms, guests) if board else []
    for vm in vms:
        place_guest(vm)
        check_vm(vm)
    if board is None:
        problems.raise_if_any()
        raise AssertionError("a system without a board has no problem")
    mask = set(node["machine-mask"] or ()) | set(without)
    system = System(
        name=path.stem,
        source=path,
        node=node,
        board=board,
        harts=node["harts"],
        quantum_us=node["quantum-us"],
        trace_kib=node["trace-kib"] or 0,
        machine_mask=tuple(name for name in FEATURES if name in mask),
        devices=devices,
        vms=vms,
    )
    place_host(system, image_bound(system, hypervisor_size))
    problems.raise_if_any()
    return system


def _section(node: Read, name: str) -> list[Read]:
    return list(node.children[name].children.values()) if name in node.children else []


def named_files(path: Path, guests: Path) -> list[Path]:
    """The guests' files that the system names, there or not, each once. Raises BuildError on a syntax error only: what
    else is wrong is load_system's to say, once the files are made."""
    node = read(Source(str(path)), schema.SYSTEM, Problems())
    owners_of_files = [child for section in node.children.values() for child in section.children.values()]
    names = [child[prop] for child in owners_of_files for prop in ("image", "initrd", "file") if child.values.get(prop)]
    return [guests / name for name in dict.fromkeys(names)]


def check_features(names: tuple[str, ...]) -> None:
    for name in names:
        if name not in FEATURES:
            got = f'got "{name}"{suggest(name, FEATURES)}'
            raise BuildError(f"--without: expected features out of {', '.join(FEATURES)}, {got}")


def _devices(node: Read, board: Board, vms: list[Vm], guests: Path) -> list[Device]:
    """The devices of /devices; gives the VMs those that they name."""
    check_harts(node, board)
    nodes = _section(node, "devices")
    check_devices(nodes, board)
    taken = owners(_section(node, "vms"), nodes, board)
    for vm in vms:
        vm.devices = [board.devices[slot] for slot, owner in taken.items() if owner is vm.node]
    return [_device(device, guests) for device in nodes if device.sound]


def _device(node: Read, guests: Path) -> Device:
    file = load_file(node, "file", guests) if node["file"] else None
    path = file.path if file else None
    return Device(node.name, node["slot"], node["model"], path, node["read-only"])


def _vm(index: int, node: Read, guests: Path) -> Vm:
    base = node["memory-base"]
    image_address = node["image-address"] if node.given("image-address") else base + virtual.IMAGE_OFFSET
    colour = node["colour"] or schema.DEFAULT_COLOURS[index % len(schema.DEFAULT_COLOURS)]
    return Vm(
        id=index,
        node=node,
        colour=colour,
        memory_base=base,
        memory_size=node["memory-size"],
        host_base=node["host-base"] or 0,
        image_address=image_address,
        entry=node["entry"] if node.given("entry") else image_address,
        dtb_address=base + node["memory-size"] - virtual.DTB_ROOM,
        image=load_image(node, "image", guests),
        initrd=load_file(node, "initrd", guests) if node["initrd"] else None,
    )
