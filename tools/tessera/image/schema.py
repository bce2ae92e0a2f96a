# SPDX-License-Identifier: Apache-2.0
"""Every node and property of system files, declared once. Those of components are in the components' schemas, those of
VMs in vm_schema, those of boards in board_schema.

Checking (validate.py) and the reference in docs/configuration.md (configdoc.py) both come from here.
A new section is a new NodeSchema among the children of SYSTEM.
"""

from dataclasses import replace

from tessera.image import layout, netkinds, virtual
from tessera.image.components import SYSTEM_NODES
from tessera.image.nodes import NAME_PATTERN, NAME_WORDS, RAM_ALIGN, NodeSchema, Prop
from tessera.image.prop_types import Address, Choice, Flag, Number, Numbers, Text, Words
from tessera.image.vm_schema import VM

MOST_RAM = 1 << 36  # below the windows in the hypervisor's address space (arch/riscv/hostmap.c)

LONGEST_BOARD = 31  # characters of a board's name

SLOT_MODELS = ("virtio-rng", "virtio-blk", "virtio-net")

DEVICE_MODELS = (*SLOT_MODELS, "nvme", "e1000e")  # the others are for PCI functions

DEVICE = NodeSchema(
    doc="A device that QEMU puts into a slot of the board.",
    props=(
        Prop(
            "slot",
            Text(31),
            "The board's slot of the device, or a function of its PCI bus, `00:01.0` to `00:1f.7`.",
            required=True,
        ),
        Prop(
            "model",
            Choice(DEVICE_MODELS),
            "nvme and e1000e are PCI functions.",
            required=True,
        ),
        Prop(
            "file",
            Text(255),
            "The raw image of a virtio-blk or nvme, a [file's path](#paths-of-files). What the guest writes stays in "
            "the file, which no other device then has.",
            default_words="none; a virtio-blk and an nvme need one",
            is_file=True,
        ),
        Prop("read-only", Flag(), "The guest cannot write to the virtio-blk or nvme.", default=False),
        Prop(
            "subnet",
            netkinds.Subnet(),
            "The network of a virtio-net or e1000e; guests reach what the host reaches. The host has the highest "
            "address, a name server the one before.",
            default=netkinds.DEFAULT_SUBNET,
            default_words=f"`{netkinds.DEFAULT_SUBNET}`",
        ),
        Prop(
            "forwards",
            netkinds.Forwards(),
            "Ports of the host, for its own programs only, that reach guests. Port 0: QEMU takes a free one.",
            default_words="none",
        ),
    ),
)

SHARED = NodeSchema(
    doc="Memory that several VMs read and write at the same guest-physical address, cleared once, at boot; it keeps "
    "its contents when a VM restarts.",
    props=(
        Prop("size", Address("a size", align=RAM_ALIGN, low=RAM_ALIGN), "Bytes.", required=True),
        Prop(
            "address",
            Address("a guest-physical address", align=RAM_ALIGN),
            "Its address in each of the VMs.",
            required=True,
        ),
        Prop("vms", Words("VM names"), "The VMs, two or more.", required=True),
    ),
)

SYSTEM = NodeSchema(
    doc="The system.",
    props=(
        Prop("compatible", Choice(("tessera,system",)), "Marks a system file.", required=True),
        Prop(
            "board", Text(LONGEST_BOARD, NAME_PATTERN, NAME_WORDS), "Folder of the board in `platform/`.", required=True
        ),
        Prop(
            "harts",
            Number(1, layout.MAX_HARTS),
            "Harts that the system uses; not more than the board has.",
            required=True,
            field="nharts",
        ),
        Prop(
            "quantum-us",
            Number(100, layout.QUANTUM_MAX_US),
            "Quantum of best-effort VCPUs in microseconds; usual values are 1000, 5000 and 10000.",
            default=5000,
            field="quantum_us",
        ),
        Prop(
            "be-reserve-us",
            Numbers("numbers", 1, 1000000, count=2),
            "[Best effort's reserve](real-time.md#best-efforts-reserve): the microseconds that RT apps leave to best "
            "effort on each hart, and the window in microseconds in which they do. A launch that would leave less is "
            "refused.",
            default=(1000, 10000),
            default_words="`1000 10000`",
        ),
        Prop(
            "virtual-time",
            Flag(),
            "QEMU runs in virtual time, one nanosecond per instruction, on one hart. Times of RT apps mean something "
            "only with it.",
            default=False,
        ),
        Prop(
            "ram-size",
            Address("a size", align=RAM_ALIGN, low=RAM_ALIGN, below=MOST_RAM),
            "Bytes of RAM of QEMU's machine, at least the board's `ram-size`.",
            default_words="the board's `ram-size`",
        ),
        Prop(
            "trace-kib",
            Number(0, layout.MAX_TRACE_KIB),
            "KiB of RAM for each hart's [trace](trace.md), 42 events per KiB; the newest are kept.",
            default=0,
            default_words="no trace",
            field="trace_kib",
        ),
        Prop(
            "machine-mask",
            Words("features", layout.FEATURES, may_be_empty=True),
            "Features of the machine that the hypervisor does not use, as if the core lacked them.",
            default=(),
            default_words="none",
        ),
    ),
    children={
        "devices": NodeSchema(
            doc="Devices that QEMU emulates, for the `devices` of VMs.",
            named=DEVICE,
            named_words="a device",
        ),
        "shared": NodeSchema(
            doc=f"Memory of several VMs, at most {layout.MAX_SHARED} regions, numbered in their order from 0.",
            named=SHARED,
            named_words="a region",
        ),
        **SYSTEM_NODES,
        "vms": NodeSchema(
            doc=f"The VMs, from 1 to the limit of the board's hypervisor ({layout.MAX_VMS}), numbered in their order "
            "from 0.",
            named=VM,
            named_words="a VM",
            longest_name=layout.NAME_LEN - 1,
            required=True,
        ),
    },
)


def _for_machine(prop: Prop, machine: virtual.Machine) -> Prop:
    kind = prop.kind
    if isinstance(kind, Address) and kind.align == RAM_ALIGN:
        low = machine.ram_align if kind.low else 0
        kind = replace(kind, align=machine.ram_align, low=low)
    default = machine.memory_base if prop.name == "memory-base" else prop.default
    return replace(prop, kind=kind, default=default)


def for_machine(node: NodeSchema, machine: virtual.Machine) -> NodeSchema:
    """Returns the schema with the RAM's alignment and address of `machine` in place of RISC-V's."""
    return replace(
        node,
        props=tuple(_for_machine(prop, machine) for prop in node.props),
        children={name: for_machine(child, machine) for name, child in node.children.items()},
        named=for_machine(node.named, machine) if node.named else None,
    )
