# SPDX-License-Identifier: Apache-2.0
"""Reads a system's file: the schema, then the board, the devices and the guests' files."""

from pathlib import Path

from tessera.image import loads, memory, schema, virtual
from tessera.image.board import load_board, machine_of, with_ram
from tessera.image.check_system import (
    check_components,
    check_counts,
    check_devices,
    check_files,
    check_harts,
    check_limits,
    check_shared,
    check_watchdogs,
    needs,
    owners,
)
from tessera.image.check_vm import check_vm
from tessera.image.component import Loading
from tessera.image.components import check_by_components, load_by_components
from tessera.image.files import find_file, first_there, places_of
from tessera.image.layout import FEATURES
from tessera.image.model import Board, Device, Shared, System, Vm
from tessera.image.problems import BuildError, Problems
from tessera.image.prop_types import suggest
from tessera.image.ram_layout import image_bound, place_host
from tessera.image.source import Source
from tessera.image.validate import Read, read
from tessera.image.vm_schema import DEFAULT_COLOURS

LONGEST_NAME = 31


def load_system(
    path: Path,
    search: tuple[Path, ...],
    platform_dir: Path,
    without: tuple[str, ...],
    hypervisor_size: int,
    components: tuple[str, ...] | None = None,
) -> System:
    """Reads the system of `path`, checks it and assigns all addresses.

    search: directories to search for guests' files, after the directory of the source.
    platform_dir: directory of the boards. without: features to add to the machine mask.
    hypervisor_size: bytes of the hypervisor's binary. components: its components; None: all.
    Raises BuildError with all problems.
    """
    check_features(without)
    problems = Problems()
    machine = machine_of(path, platform_dir)
    node = _read(path, problems, machine)
    vms = [_vm(index, vm, search, machine) for index, vm in enumerate(_section(node, "vms")) if vm.sound]
    _apply_components(node, vms, components)
    if "vms" in node.children:
        check_counts(node.children["vms"])
        check_watchdogs(node, _section(node, "vms"))
    board = load_board(node["board"], platform_dir, node) if node["board"] else None
    if board:
        board = with_ram(node, board)
        check_limits(node, _section(node, "vms"), board)
    devices = _devices(node, board, vms, search) if board else []
    shared = _shared(node, vms)
    loading = Loading(node, vms, board, search)
    load_by_components(loading)
    for vm in vms:
        loads.place(vm)
        check_vm(vm)
        memory.check(vm, board)
    if loading.board is None:
        problems.raise_if_any()
        raise AssertionError("a system without a board has no problem")
    system = System(
        name=path.stem,
        source=path,
        node=node,
        board=loading.board,
        harts=node["harts"],
        quantum_us=node["quantum-us"],
        trace_kib=node["trace-kib"] or 0,
        machine_mask=_machine_mask(node, without),
        devices=devices,
        vms=vms,
        shared=shared,
        accelerators=loading.accelerators,
        overlays=loading.overlays,
        networks=loading.networks,
    )
    check_by_components(system)
    place_host(system, image_bound(system, hypervisor_size))
    problems.raise_if_any()
    return system


def _apply_components(node: Read, vms: list[Vm], components: tuple[str, ...] | None) -> None:
    """Reports what needs a component that the hypervisor lacks; leaves the devices of `compat` out
    of the VMs if it is lacking."""
    if components is None:
        return
    check_components(node, _section(node, "vms"), components)
    for vm in vms:
        vm.compatible = "compat" in components


def _read(path: Path, problems: Problems, machine: virtual.Machine) -> Read:
    node = read(Source(str(path)), schema.for_machine(schema.SYSTEM, machine), problems)
    if len(path.stem) > LONGEST_NAME:
        node.problem("", f'expected a file name of at most {LONGEST_NAME} characters, got "{path.stem}"')
    return node


def _machine_mask(node: Read, without: tuple[str, ...]) -> tuple[str, ...]:
    mask = {*(node["machine-mask"] or ()), *without}
    return tuple(name for name in FEATURES if name in mask)


def _section(node: Read, name: str) -> list[Read]:
    return list(node.children[name].children.values()) if name in node.children else []


def named_files(path: Path, search: tuple[Path, ...]) -> list[Path]:
    """
    Lists the guests' files that the system names, without duplicates; for a missing file, all paths
    at which make may build it. Raises BuildError on a syntax error only: load_system reports all
    other problems, once the files exist.
    """
    node = read(Source(str(path)), schema.SYSTEM, Problems())
    owning = [(child, prop.name) for child in _owners_of_files(node) for prop in child.schema.props if prop.is_file]
    files = [(child, prop, name) for child, prop in owning if child[prop] for name in _names(child[prop])]
    return list(dict.fromkeys(place for file in files for place in _named_file(*file, search)))


def _owners_of_files(node: Read) -> list[Read]:
    """Returns the nodes of a system that may name files."""
    owners_of_files = [child for section in node.children.values() for child in section.children.values()]
    return owners_of_files + [function for vm in _section(node, "vms") for function in _section(vm, "pci")]


def needed_components(path: Path) -> list[str]:
    """Returns the components that the system needs of the hypervisor. Raises BuildError on a syntax error only."""
    node = read(Source(str(path)), schema.SYSTEM, Problems())
    return needs(node, _section(node, "vms"))


def _names(value: str | tuple[str, ...]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else value


def _named_file(node: Read, prop: str, name: str, search: tuple[Path, ...]) -> list[Path]:
    found = first_there(node, prop, name, search)
    return [found] if found else places_of(node, prop, name, search)


def check_board(path: Path, board: str, platform_dir: Path) -> None:
    """Raises BuildError if the system is for another board. load_system reports an unknown
    board."""
    wanted = read(Source(str(path)), schema.SYSTEM, Problems())["board"]
    if wanted and wanted != board and (platform_dir / wanted / "board.dts").is_file():
        raise BuildError(f"{path} is for board {wanted}: use PLATFORM={wanted}")


def check_features(names: tuple[str, ...]) -> None:
    for name in names:
        if name not in FEATURES:
            got = f'got "{name}"{suggest(name, FEATURES)}'
            raise BuildError(f"--without: expected features out of {', '.join(FEATURES)}, {got}")


def _devices(node: Read, board: Board, vms: list[Vm], search: tuple[Path, ...]) -> list[Device]:
    """Returns the devices of /devices, and assigns to each VM the board's devices that it names."""
    check_harts(node, board)
    nodes = _section(node, "devices")
    check_devices(nodes, board)
    taken = owners(_section(node, "vms"), nodes, board)
    for vm in vms:
        vm.devices = [board.devices[slot] for slot, owner in taken.items() if owner is vm.node]
    devices = [_device(device, search) for device in nodes if device.sound]
    check_files(devices)
    return devices


def _shared(node: Read, vms: list[Vm]) -> list[Shared]:
    """Returns the regions of /shared, and assigns each region to its VMs."""
    nodes = _section(node, "shared")
    check_shared(nodes, [vm.name for vm in _section(node, "vms")])
    regions = [
        Shared(index, region, region["address"], region["size"], region["vms"])
        for index, region in enumerate(nodes)
        if region.sound
    ]
    for vm in vms:
        vm.shared = [region for region in regions if vm.name in region.vms]
    return regions


def _device(node: Read, search: tuple[Path, ...]) -> Device:
    file = find_file(node, "file", node["file"], search) if node["file"] else None
    return Device(node, file)


def _vm(index: int, node: Read, search: tuple[Path, ...], machine: virtual.Machine) -> Vm:
    base = node["memory-base"]
    image_address = node["image-address"] if node.given("image-address") else base + machine.image_offset
    colour = node["colour"] or DEFAULT_COLOURS[index % len(DEFAULT_COLOURS)]
    return Vm(
        id=index,
        node=node,
        machine=machine,
        colour=colour,
        memory_base=base,
        memory_size=node["memory-size"],
        host_base=node["host-base"] or 0,
        image_address=image_address,
        entry=node["entry"] if node.given("entry") else image_address,
        dtb_address=base + node["memory-size"] - machine.dtb_room,
        files=loads.read(node, search),
        memory=memory.read(node),
    )
