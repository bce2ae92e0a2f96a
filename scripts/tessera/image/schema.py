# SPDX-License-Identifier: Apache-2.0
"""Every node and property of system and board files, declared once.

Checking (reading.py) and the reference in docs/configuration.md (configdoc.py) both come from here. A new section is a
new NodeSchema among the children of SYSTEM.
"""

from dataclasses import dataclass, field, replace
from typing import Any

from tessera.image import layout, virtual
from tessera.image.kinds import Address, Choice, Flag, Kind, Number, Numbers, Text, Words

MIB = 1 << 20
RAM_ALIGN = 2 * MIB
LONGEST_MS = 3600000
LONGEST_RT_US = 0x7FFFFFFF  # of periods and budgets of RT apps

# ANSI foreground codes by name; VMs without a colour of their own get DEFAULT_COLOURS in turn.
_HUES = ("red", "green", "yellow", "blue", "magenta", "cyan", "white")
COLOURS = {name: 31 + n for n, name in enumerate(_HUES)} | {f"bright-{name}": 91 + n for n, name in enumerate(_HUES)}
DEFAULT_COLOURS = ("green", "yellow", "cyan", "magenta", "blue", "red", "white")

# What a guest's device tree can tell of; the rest of layout.FEATURES matters to the hypervisor only.
GUEST_FEATURES = ("sstc", "svpbmt", "zbb", "zba", "zbs", "zicboz", "zicbom", "svinval", "svadu", "zawrs")

# Each optional feature stands in both of these of every CPU, and the hypervisor may have to take it out of each.
ISA_PROPERTIES = ("riscv,isa", "riscv,isa-extensions")


NAME_PATTERN = r"[a-z][a-z0-9-]*"
NAME_WORDS = "lower-case letters, digits and hyphens, starting with a letter"


@dataclass(frozen=True)
class Prop:
    """A property. `default` is what holds when it is absent: a value, or words in `default_words` if it depends."""

    name: str
    kind: Kind
    doc: str
    required: bool = False
    default: Any = None
    default_words: str = ""


@dataclass(frozen=True)
class NodeSchema:
    """A node: its properties, its fixed children, and the schema of children that the author names."""

    doc: str
    props: tuple[Prop, ...] = ()
    children: dict[str, "NodeSchema"] = field(default_factory=dict)
    named: "NodeSchema | None" = None
    named_words: str = ""
    longest_name: int = 31
    required: bool = False


DEVICE = NodeSchema(
    doc="A device that QEMU puts into a slot of the board. The node's name is the device's:",
    props=(
        Prop("slot", Text(31), "The board's slot that it sits in.", required=True),
        Prop("model", Choice(("virtio-rng", "virtio-blk")), "What sits there.", required=True),
        Prop(
            "file",
            Text(255),
            "A virtio-blk's raw image, a [file's path](#paths-of-files).",
            default_words="none; a virtio-blk needs one",
        ),
        Prop("read-only", Flag(), "The guest cannot write to the virtio-blk.", default=False),
    ),
)

VM_PROPS = (
    Prop("colour", Choice(tuple(COLOURS)), "Colour of the VM's name on the console.", default_words="by order"),
    Prop("vcpus", Number(1, layout.MAX_VCPUS_PER_VM), "Number of virtual CPUs; may exceed `harts`.", default=1),
    Prop(
        "rt-apps",
        Number(0, layout.MAX_RT_APPS),
        "Real-time apps that the VM may have at a time; with any it is an RT-VM, and its guest the real-time manager.",
        default=0,
    ),
    Prop(
        "rt-launchers",
        Words("VM names"),
        "Other VMs that may launch the RT-VM's apps.",
        default=(),
        default_words="none",
    ),
    Prop(
        "rt-harts",
        Numbers("numbers", 0, layout.MAX_HARTS - 1),
        "Harts that the RT-VM's apps may be pinned to. Hart 0 has the console and the interrupts of devices.",
        default_words="all that the system uses",
    ),
    Prop(
        "rt-share-max",
        Number(1, 100),
        "Percent of each of these harts that the RT-VM's apps may have, by budgets and periods.",
        default_words="what `be-reserve-us` leaves",
    ),
    Prop(
        "rt-budget-max-us",
        Number(1, LONGEST_RT_US),
        "The longest budget of the RT-VM's apps in microseconds.",
        default_words="what `be-reserve-us` leaves",
    ),
    Prop(
        "rt-period-max-us",
        Number(1, LONGEST_RT_US),
        "The longest period of the RT-VM's apps in microseconds.",
        default=LONGEST_RT_US,
    ),
    Prop(
        "may-send-to",
        Words("VM names"),
        "Other VMs that the VM may send messages to.",
        default=(),
        default_words="none",
    ),
    Prop(
        "message-interrupt",
        Number(1, virtual.PLIC_SOURCES),
        "Source of the VM's interrupt controller that is high while a message to VCPU 0 or a doorbell waits.",
        default_words="the VCPU's software interrupt",
    ),
    Prop(
        "memory-size",
        Address("a size", align=RAM_ALIGN, low=RAM_ALIGN),
        "Bytes of RAM, cleared at every start.",
        required=True,
    ),
    Prop(
        "memory-base",
        Address("a guest-physical address", align=RAM_ALIGN),
        "Where the guest sees its RAM.",
        default=0x80000000,
    ),
    Prop(
        "host-base",
        Address("a host-physical address", align=RAM_ALIGN, below=1 << 56),
        "Where the RAM really lies. Needed only by a guest whose devices must not see translated addresses: give "
        "`memory-base` the same value.",
        default_words="the lowest free place above the system image",
    ),
    Prop(
        "image",
        Text(255),
        "The guest's raw binary, a [file's path](#paths-of-files).",
        required=True,
    ),
    Prop(
        "image-address",
        Address("a guest-physical address", align=layout.PAGE),
        "Where the image is loaded. A Linux `Image` needs a multiple of 2 MiB.",
        default_words="`memory-base` + 2 MiB",
    ),
    Prop(
        "entry",
        Address("a guest-physical address", align=2),
        "First instruction of VCPU 0, inside the image.",
        default_words="`image-address`",
    ),
    Prop(
        "initrd",
        Text(255),
        "An initial RAM disk, a [file's path](#paths-of-files); the device tree tells the guest where it is.",
        default_words="none",
    ),
    Prop(
        "initrd-address",
        Address("a guest-physical address", align=layout.PAGE),
        "Where the initrd is loaded.",
        default_words="as high in the RAM as a multiple of 2 MiB below the device tree can be",
    ),
    Prop("bootargs", Text(1023, joined=True), "The guest's command line.", default_words="none"),
    Prop(
        "sign-of-life",
        Text(79),
        "Text that appears on the VM's console once the guest works; `make smoke` waits for it. Required unless "
        "`manual-start` is there.",
        default_words="none",
    ),
    Prop("on-fatal", Choice(("stop", "restart")), "What a fatal trap of the guest does to the VM.", default="stop"),
    Prop(
        "watchdog-ms",
        Number(0, LONGEST_MS),
        "Milliseconds within which the guest pets its watchdog again (HCALL_WATCHDOG_PET), or the VM is restarted; the "
        "first period begins with the guest. Longer than the turns of all VCPUs take, for a VM that waits for its turn "
        "cannot pet. The builder checks that, and counts one wait for best effort's reserve; where RT apps use all "
        "that they are admitted for, turns take as much longer as the reserve is a small share of the hart.",
        default=0,
        default_words="no watchdog",
    ),
    Prop(
        "restart-pause-max-ms",
        Number(0, LONGEST_MS),
        "Longest pause in milliseconds before a VM that fails again and again is restarted. "
        "[Restarts](virtual-platform.md#restarts) says when there is one.",
        default=10000,
    ),
    Prop("manual-start", Flag(), "The VM waits for the console's start command.", default=False),
    Prop("keyboard", Flag(), "The VM has the keyboard at boot. At most one VM.", default_words="the first VM has it"),
    Prop("no-uart", Flag(), "No emulated UART: the guest prints through the SBI.", default=False),
    Prop("uart-polled", Flag(), "The guest is told of no UART interrupt and polls.", default=False),
    Prop(
        "no-plic",
        Flag(),
        "No emulated interrupt controller; goes with `uart-polled` or `no-uart`, and without devices.",
        default=False,
    ),
    Prop("no-finisher", Flag(), "No emulated test finisher.", default=False),
    Prop("no-rtc", Flag(), "No emulated clock.", default=False),
    Prop(
        "isa",
        Words("features", GUEST_FEATURES, may_be_empty=True),
        "Optional features that the guest is told of, where the machine has them.",
        default_words="all of them",
    ),
    Prop(
        "devices",
        Words("device names"),
        "Devices passed through: nodes of `/devices`, or devices of the board. A device that accesses memory by "
        "itself is not confined to its VM: the board has no IOMMU.",
        default=(),
        default_words="none",
    ),
    Prop(
        "interrupts-per-ms",
        Number(0, layout.MAX_IRQS_PER_MS),
        "Interrupts that each of the `devices` may cause in a millisecond, in the long run; up to "
        f"{layout.IRQ_BURST} may come at once. One more waits in the device until it may come. 0: no limit.",
        default=20,
    ),
)

VM = NodeSchema(doc="A virtual machine. The node's name is the VM's:", props=VM_PROPS)

SHARED = NodeSchema(
    doc="Memory that several VMs have at the same guest-physical address, to read and write. It is cleared once, at "
    "boot, and keeps what is in it when a VM starts anew. The node's name is the region's:",
    props=(
        Prop("size", Address("a size", align=RAM_ALIGN, low=RAM_ALIGN), "Bytes.", required=True),
        Prop(
            "address",
            Address("a guest-physical address", align=RAM_ALIGN),
            "Where each of the VMs sees it.",
            required=True,
        ),
        Prop("vms", Words("VM names"), "The VMs, two or more.", required=True),
    ),
)

SYSTEM = NodeSchema(
    doc="The system.",
    props=(
        Prop("compatible", Choice(("tessera,system",)), "Says that this is a system file.", required=True),
        Prop("board", Text(31, NAME_PATTERN, NAME_WORDS), "Folder of the board in `platform/`.", required=True),
        Prop(
            "harts",
            Number(1, layout.MAX_HARTS),
            "Harts that the system uses; not more than the board has.",
            required=True,
        ),
        Prop(
            "quantum-us",
            Number(100, 1000000),
            "Quantum of best-effort VCPUs in microseconds; usual are 1000, 5000 and 10000.",
            default=5000,
        ),
        Prop(
            "be-reserve-us",
            Numbers("numbers", 1, 1000000, count=2),
            "Best effort's reserve: microseconds that RT apps leave to best effort on each hart, and in how many. The "
            "second is the bound for whatever waits for best effort's time: the operator's keys, interrupts of "
            "devices, watchdogs. A launch that would break it is refused; "
            "[real-time.md](real-time.md#best-efforts-reserve) says how.",
            default=(1000, 10000),
            default_words="`1000 10000`",
        ),
        Prop(
            "virtual-time",
            Flag(),
            "QEMU runs the system in virtual time, a nanosecond for each instruction, however fast it really is: what "
            "real-time apps need to mean anything there. One hart.",
            default=False,
        ),
        Prop(
            "trace-kib",
            Number(0, layout.MAX_TRACE_KIB),
            "KiB of RAM for each hart's trace, which the hypervisor writes from its boot on; the last events stay, "
            "42 a KiB. [trace.md](trace.md) says how to see one.",
            default=0,
            default_words="no trace",
        ),
        Prop(
            "machine-mask",
            Words("features", layout.FEATURES, may_be_empty=True),
            "Features of the machine to do without, as if the core lacked them.",
            default=(),
            default_words="none",
        ),
    ),
    children={
        "devices": NodeSchema(
            doc="Devices that QEMU is asked for. Each is given to a VM by the VM's `devices`.",
            named=DEVICE,
            named_words="a device",
        ),
        "shared": NodeSchema(
            doc=f"Memory of several VMs, at most {layout.MAX_SHARED} regions. Their order gives their ids, from 0.",
            named=SHARED,
            named_words="a region",
        ),
        "vms": NodeSchema(
            doc=f"The VMs, 1 to as many as the board's hypervisor is built for ({layout.MAX_VMS}). "
            "Their order gives their ids, from 0.",
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
    """The schema where guests see another machine than RISC-V's: how RAM is aligned, and where it is."""
    return replace(
        node,
        props=tuple(_for_machine(prop, machine) for prop in node.props),
        children={name: for_machine(child, machine) for name, child in node.children.items()},
        named=for_machine(node.named, machine) if node.named else None,
    )


BOARD_DEVICE = NodeSchema(
    doc="A device that can be passed through; it keeps its address and interrupt number in the guest. Its name:",
    props=(
        Prop("compatible", Text(63), "The guest's `compatible` for it.", required=True),
        Prop("node-name", Text(31), "The guest's node name, without the address.", required=True),
        Prop("base", Address("an address", align=layout.PAGE), "Address of its registers.", required=True),
        Prop(
            "size",
            Address("a size", align=layout.PAGE, low=layout.PAGE),
            "Bytes of its registers.",
            required=True,
        ),
        Prop("interrupt", Number(1, 31), "Its source at the interrupt controller.", required=True),
        Prop(
            "reset-register",
            Number(0, 0xFFC),
            "Offset of a 32-bit register that resets the device when 0 is written, done when its VM starts and stops: "
            "a device that is left running goes on writing to memory.",
            default=0,
            default_words="none",
        ),
        Prop("qemu-bus", Text(31), "If it is a slot: QEMU's name of the bus.", default_words="not a slot"),
    ),
)

BOARD = NodeSchema(
    doc="A board, in `platform/<name>/board.dts`.",
    props=(
        Prop("compatible", Choice(("tessera,board",)), "Says that this is a board file.", required=True),
        Prop(
            "architecture",
            Choice(tuple(virtual.MACHINES)),
            "What its CPUs are; `mips` is MIPS32 with VZ.",
            default="riscv",
        ),
        Prop("harts", Number(1, layout.MAX_HARTS), "Harts it has at most.", required=True),
        Prop("max-vms", Number(1, layout.MOST_VMS), "VMs that its hypervisor is built for.", default=layout.MAX_VMS),
        Prop(
            "max-vcpus",
            Number(1, layout.MAX_VCPUS),
            "VCPUs that its hypervisor is built for, RT apps included.",
            default=layout.MAX_VCPUS,
        ),
        Prop(
            "max-rt-apps",
            Number(0, layout.MAX_RT_APPS),
            "RT apps that its hypervisor is built for.",
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
            "load-address",
            Address(align=layout.PAGE, below=1 << 56),
            "Where the hypervisor is loaded and entered; the RAM below is the firmware's. Outside of the RAM: in ROM.",
            required=True,
        ),
        Prop(
            "timebase-hz",
            Number(10**6, 10**10, 10**6),
            "Frequency of the `time` CSR in Hz: a microsecond is a whole number of ticks.",
            required=True,
        ),
        Prop(
            "rt-release-ns",
            Number(0, 10**6),
            "What a release of an RT app costs at most the app that it interrupts, switches away and back included, in "
            "nanoseconds. That app gets it back; admission counts it for every job.",
            required=True,
        ),
        Prop(
            "rt-switch-ns",
            Number(0, 10**6),
            "What a job of an RT app is charged at most for the switches to its app and away from it, in nanoseconds; "
            "it gets that on top of its budget. Admission counts it for every job.",
            required=True,
        ),
        Prop(
            "rt-blocked-ns",
            Numbers("numbers", 0, 10**7),
            "The longest time for which a hart does not look at interrupts, in nanoseconds, waits for the hypervisor's "
            "locks included: on one hart, on 2, on up to 4, on up to 8. Admission counts it once for each app.",
            required=True,
        ),
        Prop(
            "rt-lock-ns",
            Number(0, 10**6),
            "The longest time for which a hart holds the scheduler's lock, in nanoseconds, the firmware's work "
            "meanwhile included. A release takes that lock twice and a switch once, and may wait so long for each "
            "other hart.",
            default=0,
        ),
        Prop(
            "rt-notify-ns",
            Number(0, 10**6),
            "What a release on one of several harts costs beside rt-release-ns, waits for locks and rt-ipi-ns, in "
            "nanoseconds: it finds another hart for the VCPU that it interrupts.",
            default=0,
        ),
        Prop(
            "rt-ipi-ns",
            Number(0, 10**6),
            "What the firmware takes from a hart for an interrupt of another hart, in nanoseconds. On several harts a "
            "release and a switch may each meet one.",
            default=0,
        ),
        Prop(
            "rt-firmware-ns",
            Number(0, 10**7),
            "The longest time for which a guest's instruction keeps the firmware busy, in nanoseconds. It takes "
            "illegal instructions before the hypervisor does where it has not delegated them; OpenSBI 1.6 prints a "
            "line about some, 8000000 at 115200 baud. Admission counts it once for each hart, for the firmware's lines "
            "wait for each other, and instead of rt-blocked-ns where it is longer.",
            default=0,
        ),
        Prop("rom-size", Address("a size", align=layout.PAGE), "Bytes of the ROM behind load-address.", default=0),
        Prop("isa-base", Choice(("rv64i",)), "Base instruction set.", default_words="none; RISC-V needs one"),
        Prop(
            "isa-extensions",
            Words("extensions"),
            "Extensions that every guest is told of.",
            default=(),
            default_words="none; RISC-V needs some",
        ),
        Prop("cbo-block-size", Number(16, 4096), "Bytes that a cache-block operation works on.", default=64),
        Prop("iasim-board", Text(31), "iasim's `--board`.", default_words="not a board of iasim"),
        Prop("qemu-machine", Text(63), "QEMU's `-machine`.", default_words="not a machine of QEMU"),
        Prop(
            "qemu-arguments",
            Words("arguments", repeats=True),
            "Further arguments that QEMU needs.",
            default=(),
            default_words="none",
        ),
    ),
    children={
        "devices": NodeSchema(doc="Devices for guests.", named=BOARD_DEVICE, named_words="a device"),
    },
)
