# SPDX-License-Identifier: Apache-2.0
"""Assigns addresses in the host's RAM to the VMs."""

from tessera.image import layout
from tessera.image.components import payloads_of, sections_of
from tessera.image.layout import PAGE, align_up
from tessera.image.model import System, Vm
from tessera.image.prop_types import size_text
from tessera.image.validate import Read

Span = tuple[int, int]  # first address, end address


def place_host(system: System, image_end: int) -> None:
    """Assigns host-physical addresses to the RAM of all VMs: those with host-base first, then the
    lowest gaps.

    image_end: first host-physical address after the hypervisor and the system image. Problems are
    reported.
    """
    board = system.board
    if board.rom_size:
        if image_end > board.load_address + board.rom_size:
            expected = f"expected a system image that fits {board.name}'s ROM of {size_text(board.rom_size)}"
            system.node.problem("", f"{expected}, got {image_end - board.load_address} bytes")
        image_end = board.ram_base
    image_end = align_up(image_end, board.machine.ram_align)
    if image_end > system.ram_end:
        room = size_text(max(system.ram_end - board.ram_base, 0))
        expected = f"expected a system image that fits {board.name}'s RAM of {room}"
        system.node.problem("", f"{expected}, got one up to {image_end:#x}")
        return
    _place_memory(system, {(board.ram_base, image_end): "the firmware, the hypervisor and the system image"})


def _place_memory(system: System, taken: dict[Span, str]) -> None:
    """Places the VMs' memory, the shared memory and the disks where nothing is taken."""
    for vm in system.vms:
        if vm.node.given("host-base"):
            _check_host_base(vm, system, taken)
            taken[(vm.host_base, vm.host_base + vm.memory_size)] = vm.node.path
    for vm in system.vms:
        if not vm.node.given("host-base"):
            vm.host_base = _allocate(vm.node, "memory-size", vm.memory_size, system.ram_end, taken)
        for one in vm.memory:
            one.host_base = _allocate(one.node, one.prop, one.size, system.ram_end, taken)
    for region in system.shared:
        region.host_base = _allocate(region.node, "size", region.size, system.ram_end, taken)
    for disk in system.disks:
        prop = "size" if disk.node.given("size") else "image"
        size = align_up(disk.disk_size, system.board.machine.ram_align)
        disk.disk_host = _allocate(disk.node, prop, size, system.ram_end, taken)


def _check_host_base(vm: Vm, system: System, taken: dict[Span, str]) -> None:
    board = system.board
    start, end = vm.host_base, vm.host_base + vm.memory_size
    got = f"got {start:#x}..{end:#x}"
    if start < board.ram_base or end > system.ram_end:
        expected = f"expected memory inside {board.name}'s RAM, {board.ram_base:#x}..{system.ram_end:#x}"
        vm.node.problem("host-base", f"{expected}, {got}")
    for (first, behind), owner in taken.items():
        if start < behind and first < end:
            what = f"which overlaps {owner} at {first:#x}..{behind:#x}"
            vm.node.problem("host-base", f"expected memory that nothing else uses, {got}, {what}")


def _allocate(node: Read, prop: str, size: int, ram_end: int, taken: dict[Span, str]) -> int:
    """Returns the lowest free address for `size` bytes; 0, with a problem of `prop`, if there is
    none."""
    starts = sorted(behind for _, behind in taken)
    for start in starts:
        end = start + size
        if end <= ram_end and not any(start < behind and first < end for first, behind in taken):
            taken[(start, end)] = node.path
            return start
    free = _largest_gap(ram_end, taken)
    got = f"got {size_text(size)}"
    node.problem(prop, f"expected at most {size_text(free)}, the largest free piece of RAM, {got}")
    return 0


def _largest_gap(ram_end: int, taken: dict[Span, str]) -> int:
    largest = reached = 0
    for first, behind in sorted(taken):
        if reached:
            largest = max(largest, first - reached)
        reached = max(reached, behind)
    return max(largest, ram_end - reached)


def _sections_bound(system: System) -> int:
    """Returns an upper bound of the bytes of the sections."""
    return layout.MAX_SECTIONS * layout.SECTION.size + sum(section.largest for section in sections_of(system))


def image_bound(system: System, hypervisor_size: int) -> int:
    """Returns an upper bound of the system image's end (host-physical), before the device trees are
    written."""
    payloads = {load.data for vm in system.vms for load in vm.loads}
    payloads |= set(payloads_of(system))
    size = sum(align_up(len(data), PAGE) for data in payloads) + PAGE  # one page for the end mark
    tables = align_up(layout.HEADER.size + len(system.vms) * layout.LARGEST_VM + _sections_bound(system), PAGE)
    trees = len(system.vms) * system.board.machine.dtb_room
    return system.board.load_address + align_up(hypervisor_size, PAGE) + tables + size + trees
