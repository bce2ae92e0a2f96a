# SPDX-License-Identifier: Apache-2.0
"""A VM's memory beside the RAM of `memory-base`: further RAM, and memory for DMA."""

from typing import Any

from tessera.image import dts, layout
from tessera.image.hardware import HARDWARE
from tessera.image.model import Board, Memory, Vm
from tessera.image.nodes import RAM_ALIGN, NodeSchema, Prop
from tessera.image.prop_types import Address, Numbers
from tessera.image.validate import Read

DMA = Prop(
    "dma-memory",
    Numbers("numbers", 0, (1 << 32) - RAM_ALIGN, count=2),
    "Address and bytes, multiples of 2 MiB, of [memory](virtual-platform.md#dma-memory) for buffers of "
    "accelerators and shared devices, which then access no other memory of the VM. Required on boards with a "
    "`dma-alias`.",
    default_words="none; devices access all of the VM's memory",
)

_PIECE = NodeSchema(
    doc="RAM of the VM, cleared at every start.",
    props=(
        Prop(
            "address",
            Address("a guest-physical address", align=RAM_ALIGN),
            "Guest-physical address of the RAM, with a gap to the VM's other RAM. A buffer of a virtio function must "
            "be in one piece of RAM.",
            required=True,
        ),
        Prop("size", Address("a size", align=RAM_ALIGN, low=RAM_ALIGN), "Bytes.", required=True),
    ),
)

MORE = NodeSchema(
    doc=f"Further RAM of the VM, on RISC-V: a VM has at most {layout.MAX_REGIONS} pieces of memory, the RAM of "
    "`memory-size`, `dma-memory`, shared regions and devices included.",
    named=_PIECE,
    named_words="a piece of RAM",
)


def read(node: Read) -> list[Memory]:
    """Returns the pieces of a VM's memory."""
    pieces = node.children["memory"].children.values() if "memory" in node.children else ()
    ram = [Memory(one, one["address"], one["size"], "size", f"the RAM {one.name}") for one in pieces if one.sound]
    base, size = node[DMA.name] or (0, 0)
    return [*ram, *([Memory(node, base, size, DMA.name, "the memory for DMA", is_ram=False)] if size else [])]


def check(vm: Vm, board: Board | None) -> None:
    """Reports memory for DMA that is not usable, or that the board requires. Nothing without a board."""
    if board is not None:
        _check(vm, board)


def _check(vm: Vm, board: Board) -> None:
    node, hardware = vm.node, [words for name, words in HARDWARE.items() if name in vm.node.children]
    if node[DMA.name] is None:
        if board.dma_alias and hardware:
            why = f"DMA is not coherent with the data cache of {board.name}"
            node.problem(DMA.name, f"missing; expected memory for the buffers of {' and '.join(hardware)}: {why}")
        return
    if not hardware:
        node.problem(DMA.name, "expected only on a VM with accelerators or shared devices")
    for what, number in (("address", node[DMA.name][0]), ("size", node[DMA.name][1])):
        if number % RAM_ALIGN:
            node.problem(DMA.name, f"expected a multiple of 2 MiB as {what}, got {number:#x}")
    if not vm.dma:
        node.problem(DMA.name, "expected a size of 2 MiB or more, got 0")


def reserved_memory(vm: Vm) -> list[str]:
    """Returns the node with memory that is not for the guest's general use, nothing without such memory. If the VM has
    memory for DMA, a framebuffer lies at its end."""
    if not (vm.framebuffer or vm.dma):
        return []
    body = ["#address-cells = <2>;", "#size-cells = <2>;", "ranges;"]
    end = vm.dma.end if vm.dma else 0
    if vm.framebuffer:
        memory = vm.framebuffer
        end = memory.gpa
        body += [
            "",
            *dts.node(f"framebuffer@{memory.gpa:x}", [f"reg = {dts.reg(memory.gpa, memory.span)};", "no-map;"]),
        ]
    if vm.dma:
        pool = ['compatible = "shared-dma-pool";', f"reg = {dts.reg(vm.dma.base, end - vm.dma.base)};", "no-map;"]
        body += ["", *dts.node(f"dma-memory@{vm.dma.base:x}", pool)]
    return dts.node("reserved-memory", body)


def for_dma(vm: Vm) -> list[tuple[int, int, int]]:
    """Returns the pieces of RAM as the machine's own devices address them: host-physical and guest-physical address,
    and size."""
    return [(vm.host_base, vm.memory_base, vm.memory_size), *((one.host_base, one.base, one.size) for one in vm.more)]


def manifest(vm: Vm) -> dict[str, Any]:
    """Returns what system.json has of the memory for DMA."""
    memory = {"base": vm.dma.base, "size": vm.dma.size, "host": vm.dma.host_base} if vm.dma else None
    return {"dma_memory": memory}
