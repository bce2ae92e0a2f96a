# SPDX-License-Identifier: Apache-2.0
"""The nodes and properties of board files."""

from tessera.image import layout, virtual
from tessera.image.accel import schema as accel
from tessera.image.nodes import RAM_ALIGN, NodeSchema, Prop
from tessera.image.prop_types import Address, Choice, Flag, Number, Numbers, Text, Words
from tessera.image.shared import schema as shared
from tessera.image.virtio import schema as virtio

BOARD_DEVICE = NodeSchema(
    doc="A device that can be passed through; it keeps its address and interrupt number in the guest. Its name:",
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
            "Offset of a 32-bit register that resets the device when 0 is written. The hypervisor resets the device "
            "when its VM starts and stops: a running device would continue to write to memory.",
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
            "Offset from the RAM to a second address of it that the harts do not cache, for boards on which DMA is not "
            "coherent with the data cache. VMs access their `dma-memory` there.",
            default=0,
            default_words="none: DMA is coherent",
        ),
        Prop(
            "load-address",
            Address(align=layout.PAGE, below=1 << 56),
            "Load address and entry of the hypervisor; the firmware uses the RAM below. An address outside of the RAM "
            "is in ROM.",
            required=True,
        ),
        Prop(
            "timebase-hz",
            Number(10**6, 10**10, 10**6),
            "Frequency of the `time` CSR in Hz; a microsecond must be a whole number of ticks.",
            required=True,
        ),
        Prop(
            "rt-release-ns",
            Number(0, 10**6),
            "Longest time in nanoseconds that a release of an RT app takes from the app that it interrupts, both "
            "context switches included. The interrupted app's budget is extended by this time; admission adds the "
            "time to every job.",
            default_words="none; a board with RT apps needs it",
        ),
        Prop(
            "rt-switch-ns",
            Number(0, 10**6),
            "Longest time in nanoseconds that a job of an RT app is charged for the context switches to and from its "
            "app; the job's budget is extended by it. Admission adds it to every job.",
            default_words="none; a board with RT apps needs it",
        ),
        Prop(
            "rt-blocked-ns",
            Numbers("numbers", 0, 10**7),
            "Longest non-preemptible section of a hart in nanoseconds, waits for the hypervisor's locks included: on "
            "one hart, on 2, on up to 4, on up to 8. Admission adds it once for each app.",
            default_words="none; a board with RT apps needs it",
        ),
        Prop(
            "rt-blocked-functions-ns",
            Numbers("numbers", 0, 10**7),
            "The same in a system with PCI functions: under the locks of their queues data is copied.",
            default_words="that of `rt-blocked-ns`; a board with RT apps and several harts needs it",
        ),
        Prop(
            "rt-lock-ns",
            Number(0, 10**6),
            "Longest time in nanoseconds for which a hart holds the scheduler's lock, including calls of the "
            "firmware. A release takes the lock twice and a switch once, and each acquisition may wait that long for "
            "each of the other harts.",
            default=0,
        ),
        Prop(
            "rt-notify-ns",
            Number(0, 10**6),
            "Additional time in nanoseconds of a release on a system of several harts, apart from waits for locks and "
            "rt-ipi-ns: the release finds another hart for the VCPU that it interrupts.",
            default=0,
        ),
        Prop(
            "rt-ipi-ns",
            Number(0, 10**6),
            "Time in nanoseconds that the firmware takes from a hart to handle an interrupt from another hart. With "
            "several harts, one may occur during each release and each switch.",
            default=0,
        ),
        Prop(
            "rt-firmware-ns",
            Number(0, 10**7),
            "Longest time in nanoseconds for which one instruction of a guest can keep the firmware busy. Firmware "
            "that does not delegate illegal instructions handles them before the hypervisor; OpenSBI 1.6 prints a "
            "line for some of them, 8000000 at 115200 baud. The firmware prints one line at a time, so admission adds "
            "the time once for each hart, and uses the sum instead of rt-blocked-ns if it is longer.",
            default=0,
        ),
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
        Prop("soc-simulation", Flag(), "The simulation of `fpga/target/soc` (docs/soc.md).", default=False),
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
