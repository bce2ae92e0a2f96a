# SPDX-License-Identifier: Apache-2.0
"""The nodes and properties of board files."""

from tessera.image import layout, virtual
from tessera.image.accel import schema as accel
from tessera.image.nodes import RAM_ALIGN, NodeSchema, Prop
from tessera.image.prop_types import Address, Choice, Flag, Number, Text, Words
from tessera.image.rt import schema as rt
from tessera.image.shared import schema as shared
from tessera.image.virtio import schema as virtio

BOARD_DEVICE = NodeSchema(
    doc="A device that can be passed through; it keeps its address and interrupt number in the guest.",
    props=(
        Prop("compatible", Text(63), "`compatible` of its node in the guest's device tree.", required=True),
        Prop("node-name", Text(31), "Name of that node, without the address.", required=True),
        Prop("base", Address("an address", align=layout.PAGE), "Address of its registers.", required=True),
        Prop(
            "size",
            Address("a size", align=layout.PAGE, low=layout.PAGE),
            "Bytes of its registers.",
            required=True,
        ),
        Prop(
            "interrupt",
            Number(1, 31),
            "Its source at the interrupt controller.",
            default=0,
            default_words="no interrupt",
        ),
        Prop(
            "bank-width",
            Number(1, 8),
            "`bank-width` of its node: bytes of an access to a CFI flash.",
            default=0,
            default_words="not a flash",
        ),
        Prop(
            "reset-register",
            Number(0, 0xFFC),
            "Offset of a 32-bit register that resets the device when 0 is written; the hypervisor does so when its VM "
            "starts and stops, which ends its DMA.",
            default=0,
            default_words="none",
        ),
        Prop("qemu-bus", Text(31), "For a slot: QEMU's name of the bus.", default_words="not a slot"),
    ),
)

BOARD = NodeSchema(
    doc="A board, in `platform/<name>/board.dts`.",
    props=(
        Prop("compatible", Choice(("tessera,board",)), "Marks a board file.", required=True),
        Prop(
            "architecture",
            Choice(tuple(virtual.MACHINES)),
            "Architecture of its CPUs; `mips` is MIPS32 with VZ.",
            default="riscv",
        ),
        Prop("harts", Number(1, layout.MAX_HARTS), "Largest number of harts.", required=True),
        Prop("max-vms", Number(1, layout.MOST_VMS), "Limit of its hypervisor's VMs.", default=layout.MAX_VMS),
        Prop(
            "max-vcpus",
            Number(1, layout.MAX_VCPUS),
            "Limit of its hypervisor's VCPUs, RT apps included.",
            default=layout.MAX_VCPUS,
        ),
        Prop(
            "max-rt-apps",
            Number(0, layout.MAX_RT_APPS),
            "Limit of its hypervisor's RT apps.",
            default=layout.MAX_RT_APPS,
        ),
        Prop("ram-base", Address(align=virtual.MIPS.ram_align, below=1 << 56), "Start of its RAM.", required=True),
        Prop(
            "ram-size",
            Address("a size", align=virtual.MIPS.ram_align, low=virtual.MIPS.ram_align, below=1 << 56),
            "Bytes of RAM.",
            required=True,
        ),
        Prop(
            "dma-alias",
            Address("an offset", align=RAM_ALIGN, below=1 << 32),
            "Offset from the RAM to its uncached alias, on boards whose DMA is not coherent with the data cache. VMs "
            "access their `dma-memory` there.",
            default=0,
            default_words="none: DMA is coherent",
        ),
        Prop(
            "load-address",
            Address(align=layout.PAGE, below=1 << 56),
            "Load address and entry of the hypervisor, in RAM, with the firmware below, or in ROM.",
            required=True,
        ),
        Prop(
            "timebase-hz",
            Number(10**6, 10**10, 10**6),
            "Frequency of the `time` CSR in Hz; a microsecond must be a whole number of ticks.",
            required=True,
        ),
        *rt.BOARD_PROPS,
        Prop("rom-size", Address("a size", align=layout.PAGE), "Bytes of the ROM from load-address.", default=0),
        Prop("isa-base", Choice(("rv64i",)), "Base instruction set.", default_words="none; RISC-V needs one"),
        Prop(
            "isa-extensions",
            Words("extensions"),
            "Extensions that the device tree of every guest lists.",
            default=(),
            default_words="none; RISC-V needs some",
        ),
        Prop("cbo-block-size", Number(16, 4096), "Bytes of a block of cache-block operations.", default=64),
        Prop("iasim-board", Text(31), "iasim's `--board`.", default_words="not a board of iasim"),
        Prop("spike-isa", Text(255), "Spike's `--isa`.", default_words="not the machine of Spike"),
        Prop("soc-simulation", Flag(), "The simulation of `fpga/target/soc` (docs/fabric.md#the-soc).", default=False),
        Prop("qemu-machine", Text(63), "QEMU's `-machine`.", default_words="not a machine of QEMU"),
        Prop(
            "qemu-arguments",
            Words("arguments", repeats=True),
            "Further arguments for QEMU.",
            default=(),
            default_words="none",
        ),
    ),
    children={
        "devices": NodeSchema(doc="Devices for guests.", named=BOARD_DEVICE, named_words="a device"),
        "pci": virtio.BOARD_PCI,
        "fabric": accel.FABRIC,
        "shared-devices": shared.BOARD_SHARED_DEVICES,
    },
)
