# SPDX-License-Identifier: Apache-2.0
"""Every node and property of system and board files, declared once.

Checking (validate.py) and the reference in docs/configuration.md (configdoc.py) both come from here.
A new section is a new NodeSchema among the children of SYSTEM.
"""

from dataclasses import dataclass, field, replace
from typing import Any

from tessera.image import layout, netkinds, virtual
from tessera.image.accel import accel_image
from tessera.image.prop_types import Address, Choice, Flag, Kind, Mac, Number, Numbers, Power, Text, Words
from tessera.image.shared import shared_image
from tessera.image.virtio import pcikinds, virtio_image

MIB = 1 << 20
RAM_ALIGN = 2 * MIB
MOST_RAM = 1 << 36  # below the windows in the hypervisor's address space (arch/riscv/hostmap.c)
LONGEST_MS = 3600000
LONGEST_RT_US = 0x7FFFFFFF  # longest period and budget of an RT app

# ANSI foreground codes by name; VMs without a `colour` get DEFAULT_COLOURS in this order.
_HUES = ("red", "green", "yellow", "blue", "magenta", "cyan", "white")
COLOURS = {name: 31 + n for n, name in enumerate(_HUES)} | {f"bright-{name}": 91 + n for n, name in enumerate(_HUES)}
DEFAULT_COLOURS = ("green", "yellow", "cyan", "magenta", "blue", "red", "white")

# The features that a guest's device tree can list; the rest of layout.FEATURES concerns the
# hypervisor only.
GUEST_FEATURES = ("sstc", "svpbmt", "zbb", "zba", "zbs", "zicboz", "zicbom", "svinval", "svadu", "zawrs")

# Both properties of every CPU list the optional features; the hypervisor may have to hide a feature
# in each of them.
ISA_PROPERTIES = ("riscv,isa", "riscv,isa-extensions")


NAME_PATTERN = r"[a-z][a-z0-9-]*"
LONGEST_BOARD = 31  # characters of a board's name
NAME_WORDS = "lower-case letters, digits and hyphens, starting with a letter"


@dataclass(frozen=True)
class Prop:
    """A property. `default` is the value of an absent property; `default_words` describes one that
    is computed."""

    name: str
    kind: Kind
    doc: str
    required: bool = False
    default: Any = None
    default_words: str = ""


@dataclass(frozen=True)
class NodeSchema:
    """A node: its properties, its fixed children, and the schema of the children whose names are
    free."""

    doc: str
    props: tuple[Prop, ...] = ()
    children: dict[str, "NodeSchema"] = field(default_factory=dict)
    named: "NodeSchema | None" = None
    named_words: str = ""
    longest_name: int = 31
    required: bool = False


SLOT_MODELS = ("virtio-rng", "virtio-blk", "virtio-net")
DEVICE_MODELS = (*SLOT_MODELS, "nvme", "e1000e")  # the others are for PCI functions

DEVICE = NodeSchema(
    doc="A device that QEMU puts into a slot of the board. The node's name is the device's name:",
    props=(
        Prop(
            "slot",
            Text(31),
            "The board's slot of the device, or a function of the board's PCI bus like `00:01.0`, of bus 00 and of a "
            "device from 01 to 1f.",
            required=True,
        ),
        Prop(
            "model",
            Choice(DEVICE_MODELS),
            "The model of the device. nvme and e1000e are for PCI functions only.",
            required=True,
        ),
        Prop(
            "file",
            Text(255),
            "The raw image of a virtio-blk or nvme, a [file's path](#paths-of-files). What the guest writes stays in "
            "the file, which no other device then has.",
            default_words="none; a virtio-blk and an nvme need one",
        ),
        Prop("read-only", Flag(), "The guest cannot write to the virtio-blk or nvme.", default=False),
        Prop(
            "subnet",
            netkinds.Subnet(),
            "The IPv4 network of a virtio-net or e1000e, whose addresses QEMU translates to the host's: guests reach "
            "what the host reaches. The host has the highest address, a name server the one before.",
            default=netkinds.DEFAULT_SUBNET,
            default_words=f"`{netkinds.DEFAULT_SUBNET}`",
        ),
        Prop(
            "forwards",
            netkinds.Forwards(),
            "Ports of the host that reach guests through a virtio-net or e1000e, for programs of the host only, each "
            "port through one device. Port 0 of the host: QEMU takes a free one.",
            default_words="none",
        ),
    ),
)

VM_PROPS = (
    Prop("colour", Choice(tuple(COLOURS)), "Colour of the VM's name on the console.", default_words="by order"),
    Prop("vcpus", Number(1, layout.MAX_VCPUS_PER_VM), "Number of virtual CPUs; may exceed `harts`.", default=1),
    Prop(
        "rt-apps",
        Number(0, layout.MAX_RT_APPS),
        "Real-time apps that the VM may run at a time. With any, the VM is an RT-VM and its guest the real-time "
        "manager.",
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
        "Harts that the RT-VM's apps may be pinned to. Hart 0 handles the console and the interrupts of devices.",
        default_words="all harts of the system",
    ),
    Prop(
        "rt-share-max",
        Number(1, 100),
        "Percentage of each of these harts that the RT-VM's apps may use, by budgets and periods.",
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
        "Source of the VM's interrupt controller that is high while a message to VCPU 0 or a doorbell is pending.",
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
        "Guest-physical address of the RAM.",
        default=0x80000000,
    ),
    Prop(
        "host-base",
        Address("a host-physical address", align=RAM_ALIGN, below=1 << 56),
        "Host-physical address of the RAM. Needed only by a guest whose devices must not see translated addresses: "
        "set `memory-base` to the same value.",
        default_words="the lowest free place above the system image",
    ),
    Prop(
        "dma-memory",
        Numbers("numbers", 0, (1 << 32) - RAM_ALIGN, count=2),
        "Guest-physical address and bytes of further memory, multiples of 2 MiB, for buffers of accelerators and "
        "shared devices: these then access no other memory of the VM. The device tree lists it as a `shared-dma-pool`. "
        "Required for a VM with such devices on boards with a `dma-alias` "
        "([virtual-platform.md](virtual-platform.md#dma-memory)).",
        default_words="none; devices access all of the VM's memory",
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
        "Load address of the image. A Linux `Image` needs a multiple of 2 MiB.",
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
        "An initial RAM disk, a [file's path](#paths-of-files); the guest finds its address in the device tree.",
        default_words="none",
    ),
    Prop(
        "initrd-address",
        Address("a guest-physical address", align=layout.PAGE),
        "Load address of the initrd.",
        default_words="the highest multiple of 2 MiB at which the initrd ends below the device tree",
    ),
    Prop("bootargs", Text(1023, joined=True), "The guest's command line.", default_words="none"),
    Prop(
        "sign-of-life",
        Text(79),
        "Text that appears on the VM's console once the guest works; `make smoke` waits for it. Required without "
        "`manual-start`.",
        default_words="none",
    ),
    Prop("on-fatal", Choice(("stop", "restart")), "Action on a fatal trap of the guest.", default="stop"),
    Prop(
        "watchdog-ms",
        Number(0, LONGEST_MS),
        "Milliseconds within which the guest must pet its watchdog again (HCALL_WATCHDOG_PET); otherwise the VM is "
        "restarted. The first period starts with the guest. A VM that waits for its next slice cannot pet, so the "
        "period must be longer than a round of all VCPUs' slices and, with RT apps, one wait for best effort's "
        "reserve; the builder checks this. If RT apps use all the time that they are admitted for, a round takes "
        "longer, by the ratio of the window to the reserve.",
        default=0,
        default_words="no watchdog",
    ),
    Prop(
        "restart-pause-max-ms",
        Number(0, LONGEST_MS),
        "Longest backoff in milliseconds before a VM that fails repeatedly is restarted. "
        "[Restarts](virtual-platform.md#restarts) describes the backoff.",
        default=10000,
    ),
    Prop("manual-start", Flag(), "The VM starts on the console's start command, not at boot.", default=False),
    Prop("keyboard", Flag(), "The VM has the keyboard at boot. At most one VM.", default_words="the first VM has it"),
    Prop("no-uart", Flag(), "No emulated UART: the guest prints through the SBI.", default=False),
    Prop("uart-polled", Flag(), "The device tree lists no UART interrupt, so that the guest polls.", default=False),
    Prop(
        "no-plic",
        Flag(),
        "No emulated interrupt controller; requires `uart-polled` or `no-uart`, and no devices.",
        default=False,
    ),
    Prop("no-finisher", Flag(), "No emulated test finisher.", default=False),
    Prop("no-rtc", Flag(), "No emulated clock.", default=False),
    Prop(
        "isa",
        Words("features", GUEST_FEATURES, may_be_empty=True),
        "Optional features that the device tree lists if the machine has them.",
        default_words="all of them",
    ),
    Prop(
        "devices",
        Words("device names"),
        "Devices passed through: nodes of `/devices` that are no PCI functions, or devices of the board. DMA of a "
        "device is not confined to its VM: the board has no IOMMU.",
        default=(),
        default_words="none",
    ),
    Prop(
        "interrupts-per-ms",
        Number(0, layout.MAX_IRQS_PER_MS),
        "Interrupts per millisecond that each of the `devices` and of the PCI functions of the machine, the "
        "accelerators together, and the shared devices "
        f"together may cause in the long run, with bursts of up to {layout.IRQ_BURST}. Further interrupts stay pending "
        "in the device until the rate allows them. 0: no limit.",
        default=20,
    ),
    Prop(
        "accelerator-priorities",
        Flag(),
        "The VM may change the priorities of its accelerators (HCALL_ACCEL_SET_PRIORITY).",
        default=False,
    ),
    Prop(
        "accelerator-monitor",
        Flag(),
        "The VM may read the state of all regions of the fabric and of all VMs' accelerators (HCALL_ACCEL_GET_REGION, "
        "HCALL_ACCEL_GET_CLIENT).",
        default=False,
    ),
    Prop(
        "overlays",
        Words("names of overlays"),
        "Overlays of `/accelerators/overlays` that the VM may apply, remove and query "
        "([hypercalls.md](hypercalls.md#overlays)).",
        default=(),
        default_words="none",
    ),
)

VM_ACCELERATOR = NodeSchema(
    doc="A device of `/accelerators` that the VM may use. The node's name is the name of that device:",
    props=(
        Prop(
            "priority",
            Number(0, accel_image.MAX_PRIORITY),
            "Priority of the VM's requests for the device; a higher one preempts lower ones, never an equal one.",
            default=0,
        ),
        Prop(
            "model",
            Choice(tuple(accel_image.MODELS)),
            "What happens at a write to the page of a device that is not connected. `native`: the VCPU is blocked "
            f"until the device is connected. `guest`: the VCPU continues, and source {virtual.ACCEL_EVENT_IRQ} reports "
            "the connection.",
            default="native",
        ),
        Prop(
            "overlay",
            Text(layout.NAME_LEN - 1),
            "An overlay of `/accelerators/overlays`: the VM has the device only while the overlay is applied.",
            default_words="none; the VM always has it",
        ),
    ),
)

SHARE = (
    Prop(
        "priority",
        Number(0, shared_image.MAX_PRIORITY),
        "Priority of the VM's requests if the device's `policy` is `priority`; 15 is the highest.",
        default=0,
    ),
    Prop(
        "budget-us",
        Number(1, accel_image.LONGEST_US),
        "Microseconds for which the device serves the VM in each `period-us` of the device, and at most one chunk "
        "more.",
        default=0,
        default_words="no limit",
    ),
)

WINDOW = Prop(
    "window",
    Numbers("numbers", 0, shared_image.MAX_SECTORS, count=2),
    "The part: its first sector, and the number of its sectors of 64 KiB. No other VM has one of them.",
    required=True,
)

VM_SHARED_DEVICES = NodeSchema(
    doc="The devices of `/shared-devices` that the VM may use. Such a VM has a PLIC, whose source "
    f"{virtual.SHARED_IRQ} is the interrupt of all of them, and at most {accel_image.DMA_WINDOWS - 1} regions of "
    f"shared memory: the devices access memory through {accel_image.DMA_WINDOWS} DMA windows for each VM.",
    children={
        "uart": NodeSchema(doc="The VM has a UART (`ns16550a`) that sends its lines on the shared one."),
        "flash": NodeSchema(
            doc="The VM may use a part of the flash, whose addresses begin at 0 for the VM.",
            props=(WINDOW, *SHARE),
        ),
        "ethernet": NodeSchema(
            doc="The VM may send and receive frames. Priority and budget are those of the frames that it sends.",
            props=(
                Prop("mac", Mac(), "The VM's MAC address. It sends with no other one.", required=True),
                Prop(
                    "vlan",
                    Number(1, 4094),
                    "The VM's VLAN: its frames have the tag of this VLAN on the wire, and it receives no others.",
                    default=0,
                    default_words="none: its frames have no tag",
                ),
                Prop("multicast", Flag(), "The VM receives frames to all group addresses.", default=False),
                *SHARE,
            ),
        ),
        "copy": NodeSchema(doc="The VM may have its memory copied.", props=SHARE),
        "display": NodeSchema(
            doc="The VM has a part of the screen, which shows a framebuffer in the VM's memory.",
            props=(
                Prop(
                    "rectangle",
                    Numbers("numbers", 0, shared_image.LONGEST_PHASE, count=4),
                    "The part: x and y of its first pixel, width and height. No other VM has one of its pixels.",
                    required=True,
                ),
                Prop(
                    "framebuffer",
                    Choice(("own", "simple")),
                    "`own`: the VM chooses its framebuffer by the page of the display. `simple`: the framebuffer is at "
                    "the end of the VM's RAM, reserved and shown from the start on; the guest finds a "
                    "`simple-framebuffer` in the device tree, and no page.",
                    default="own",
                ),
            ),
        ),
        "gpio": NodeSchema(
            doc="The VM may use pins.",
            props=(
                Prop(
                    "pins",
                    Numbers("numbers", 0, shared_image.MAX_PINS - 1),
                    "The VM's pins. No other VM has one of them.",
                    required=True,
                ),
            ),
        ),
        "spi": NodeSchema(
            doc="The VM may use a part of the flash as a chip behind an SPI controller (`sifive,spi0`, "
            "`jedec,spi-nor`): instead of `flash`, for guests with stock drivers. Its addresses begin at 0 for the VM.",
            props=(WINDOW, *SHARE),
        ),
    },
)

VM_FUNCTION = NodeSchema(
    doc="A function on the VM's virtual PCI bus. The node's name is the function's name:",
    props=(
        Prop(
            "model",
            Choice(tuple(virtio_image.MODELS)),
            "The model of the function; `host` is a function of the machine ([networking.md](networking.md)), "
            "`hardware-io` has the pages of all the VM's `shared-devices` as BAR 0: one for a VM. The device tree then "
            "does not describe these devices otherwise ([linux-accelerators.md](linux-accelerators.md)).",
            required=True,
        ),
        Prop(
            "network",
            Text(layout.NAME_LEN - 1),
            "The network of `/networks` that a virtio-net is connected to.",
            default_words="none; a virtio-net needs one",
        ),
        Prop(
            "mac",
            Mac(),
            "The MAC address of a virtio-net. No other function on its network has it.",
            default_words="`[02 54 00 00 V S]`: V is the number of the VM, S that of the slot",
        ),
        Prop(
            "vlan",
            Number(1, virtio_image.LARGEST_VLAN),
            "The VLAN of a virtio-net: it exchanges frames only with functions of the same VLAN.",
            default=0,
            default_words="none",
        ),
        Prop(
            "uplink",
            Flag(),
            "Behind a virtio-net are all addresses that no other function on its network and VLAN has: it gets the "
            "frames to them, and may send frames from them. One for a network and VLAN.",
            default=False,
        ),
        Prop(
            "frames-per-ms",
            Number(0, virtio_image.MOST_FRAMES_PER_MS),
            "Frames that the VM may send by a virtio-net in each millisecond. 0: no limit.",
            default=0,
        ),
        Prop(
            "multicast-per-ms",
            Number(0, virtio_image.MOST_FRAMES_PER_MS),
            "Frames to group addresses among them. 0: no limit.",
            default=0,
        ),
        Prop(
            "size",
            Address("a size", align=virtio_image.SECTOR, low=virtio_image.SECTOR),
            "Bytes of a virtio-blk. Without `served-by`, the disk is in RAM of its own, in units of 2 MiB.",
            default_words="that of `image`, rounded up to a multiple of 512 bytes",
        ),
        Prop(
            "image",
            Text(255),
            "What a virtio-blk contains at boot, a [file's path](#paths-of-files); the rest of the disk are zeros.",
            default_words="none; zeros",
        ),
        Prop("read-only", Flag(), "The guest cannot write to the virtio-blk.", default=False),
        Prop(
            "served-by",
            Text(layout.NAME_LEN - 1),
            "The VM that serves a virtio-blk, by its function of model disk-server "
            "([networking.md](networking.md#disks-that-a-vm-serves)).",
            default_words="none; the disk is in RAM",
        ),
        Prop(
            "offset",
            Address("an offset", align=virtio_image.SECTOR),
            "Where a virtio-blk with `served-by` begins in the server's disk, in bytes. Disks of a server do not "
            "overlap. The size of the server's disk is not known here: requests behind its end fail.",
            default=0,
        ),
        Prop(
            "line",
            Words("names of lines"),
            f"The names of the lines of which a virtio-console is one end, on a port for each of them, at most "
            f"{virtio_image.CONSOLE_PORTS}; one other function has the other end of a line.",
            default_words="none; a virtio-console needs one",
        ),
        Prop(
            "cid",
            Number(virtio_image.SMALLEST_CID, virtio_image.LARGEST_CID),
            "The VM's context id, its address, of a virtio-vsock. No other VM has it.",
            default_words="3 + the number of the VM",
        ),
        Prop(
            "peers",
            Words("VM names"),
            "Other VMs with a virtio-vsock with which the VM may exchange packets. Packets pass only between two VMs "
            "that both have the other one among their peers.",
            default_words="all other VMs with a virtio-vsock",
        ),
        Prop(
            "shared",
            Text(31),
            "The region of `/shared` that is BAR 2 of an ivshmem, at the region's own address. The VM shares the "
            "region, and has no other ivshmem with it; the size of the region is a power of two, and its address a "
            "multiple of the size.",
            default_words="none; an ivshmem needs one",
        ),
        Prop(
            "device",
            Text(15),
            "The device of the VM's `accelerators` whose page is BAR 0 of an accelerator "
            "([accelerators.md](accelerators.md#from-linux-by-python)). The VM always has the device, not by an "
            "overlay; no other function is for it, and the device tree does not describe it as a device of the fabric.",
            default_words="none; an accelerator needs one",
        ),
        Prop(
            "dma-memory",
            Flag(),
            "BAR 2 of an accelerator or of a hardware-io is the VM's `dma-memory`, for the buffers of all of them: on "
            "one function of the VM. The memory's size is a power of two, and its address a multiple of it.",
            default=False,
        ),
        Prop(
            "function",
            pcikinds.PciAddress(),
            "The function of the machine's PCI bus that a host is; with QEMU, the `slot` of a device of `/devices`. No "
            "other function has its interrupt line, which devices whose numbers differ by a multiple of 4 share. "
            "Its DMA is not confined to the VM: the board has no IOMMU.",
            default_words="none; a host needs one",
        ),
        Prop(
            "unit",
            Text(layout.NAME_LEN - 1),
            f"The device of `/accelerators`, of task {accel_image.AES128_TASK}, with which the hypervisor computes "
            "what suits it for a virtio-crypto. The VM does not see the device.",
            default_words="none; the hypervisor computes all",
        ),
        Prop(
            "unit-priority",
            Number(0, accel_image.MAX_PRIORITY),
            "Priority of the requests for the unit's region; a higher one preempts lower ones, never an equal one.",
            default=0,
        ),
    ),
)

VM_FUNCTIONS = NodeSchema(
    doc="The functions on the VM's virtual PCI bus, in the order of their slots from 0: at most "
    f"{virtio_image.MAX_FUNCTIONS_PER_VM}, and {virtio_image.MAX_FUNCTIONS} in all VMs. The hypervisor needs the "
    f"component `virtio`. Such a VM has a PLIC, whose source {virtual.PCI_IRQ} + n is the interrupt of slot n. The "
    "addresses are in [virtual-platform.md](virtual-platform.md).",
    named=VM_FUNCTION,
    named_words="a function",
    longest_name=layout.NAME_LEN - 1,
)

NETWORKS = NodeSchema(
    doc=f"Networks between VMs, at most {virtio_image.MAX_NETWORKS}: switches that forward the frames of the functions "
    "(`virtio-net`) which are connected to them.",
    named=NodeSchema(
        doc="A network. The node's name is the network's name:",
        props=(
            Prop(
                "offloads",
                Flag(),
                "The drivers of the network's functions exchange TCP segments of up to 64 KiB and frames without a "
                "checksum. A driver that cannot receive them, as those of the SDK, cannot use its function.",
                default=False,
            ),
        ),
    ),
    named_words="a network",
    longest_name=layout.NAME_LEN - 1,
)

MORE_MEMORY = NodeSchema(
    doc="RAM of the VM, cleared at every start, as that of `memory-size`. The node's name is any, unique in the VM:",
    props=(
        Prop(
            "address",
            Address("a guest-physical address", align=RAM_ALIGN),
            "Guest-physical address of the RAM. There is a gap between it and the VM's other RAM: guests take RAM "
            "without a gap for one piece, and a buffer of a virtio function must be in one.",
            required=True,
        ),
        Prop("size", Address("a size", align=RAM_ALIGN, low=RAM_ALIGN), "Bytes.", required=True),
    ),
)

VM = NodeSchema(
    doc="A virtual machine. The node's name is the VM's name:",
    props=VM_PROPS,
    children={
        "accelerators": NodeSchema(
            doc=f"The devices of `/accelerators` that the VM may use. Such a VM has a PLIC, whose source "
            f"{virtual.ACCEL_IRQ} is the interrupt of its devices and {virtual.ACCEL_EVENT_IRQ} that of the manager's "
            f"events, and at most {accel_image.DMA_WINDOWS - 1} regions of shared memory: the fabric has "
            f"{accel_image.DMA_WINDOWS} DMA windows for each VM.",
            named=VM_ACCELERATOR,
            named_words="a device",
            longest_name=layout.NAME_LEN - 1,
        ),
        "shared-devices": VM_SHARED_DEVICES,
        "pci": VM_FUNCTIONS,
        "memory": NodeSchema(
            doc=f"Further RAM of the VM, at other guest-physical addresses: a VM has at most {layout.MAX_REGIONS} "
            "pieces of memory, the RAM of `memory-size`, `dma-memory`, shared regions and devices included. The "
            "builder loads nothing into it. RISC-V only.",
            named=MORE_MEMORY,
            named_words="a piece of RAM",
        ),
    },
)

ACCELERATOR = NodeSchema(
    doc="A device of the fabric, which a HW task implements. The node's name is the device's name:",
    props=(
        Prop("task", Number(1, 255), "Number of the HW task ([hwtasks.md](hwtasks.md)).", required=True),
        Prop(
            "size-class",
            Number(0, accel_image.MAX_SIZE_CLASS),
            "Smallest size class of a region that can hold the task.",
            default=0,
        ),
        Prop(
            "regions",
            Numbers("numbers", 0, accel_image.MAX_REGIONS - 1),
            "Regions that may hold the task, each of the size class or a larger one.",
            default_words="all regions of the board that are large enough",
        ),
        Prop(
            "bitstreams",
            Words("files", repeats=True),
            "The bitstreams, one for each of the regions, in the order of `regions`: [files' paths](#paths-of-files). "
            "Those for QEMU are `simb/<task>-<region>.bin`.",
            required=True,
        ),
        Prop(
            "verify",
            Flag(),
            "The checksum of a bitstream is verified before the region is written, so that no word of a damaged one "
            "reaches the configuration port; a configuration takes twice as long.",
            default=False,
        ),
        Prop(
            "stop-cycles",
            Number(0, 10**9),
            "Longest time in cycles of the fabric from a request to stop a job until it is at a consistency point and "
            "its context is saved, if memory never stalls: the task's longest wait and its context, as "
            "[hwtasks.md](hwtasks.md#numbers) declares them. Apps that wait for a region of the device count it "
            "([real-time.md](real-time.md#devices)). 0: not declared; apps then count `stop-us` three times.",
            default=0,
        ),
    ),
)

OVERLAY = NodeSchema(
    doc="An overlay. The node's name is the overlay's name:",
    props=(
        Prop(
            "regions",
            Numbers("numbers", 0, accel_image.MAX_REGIONS - 1),
            "Regions that the overlay takes. No two overlays that are applied have a region in common.",
            required=True,
        ),
        Prop(
            "devices",
            Words("names of devices"),
            "The device for each of the regions, in the order of `regions`: while the overlay is applied, the region "
            "holds the task of this device, and no other device gets it.",
            required=True,
        ),
    ),
)

OVERLAYS = NodeSchema(
    doc="Changes of the fabric that are applied, and removed, as a whole while the system runs "
    "([accelerators.md](accelerators.md#overlays)); at most "
    f"{accel_image.MAX_OVERLAYS}, numbered in their order from 0. None is applied at boot. A system with overlays has "
    "one VM with accelerators fewer than the board's fabric serves.",
    named=OVERLAY,
    named_words="an overlay",
    longest_name=layout.NAME_LEN - 1,
)

ACCELERATORS = NodeSchema(
    doc="Devices of the board's reconfigurable fabric ([fabric.md](fabric.md)), numbered in their order from 0. The "
    "hypervisor needs the component `accel`. QEMU runs the fabric's RTL beside the harts; times mean something only "
    "with `virtual-time`. Guest-physical addresses of the devices are in "
    "[virtual-platform.md](virtual-platform.md).",
    props=(
        Prop(
            "hold-us",
            Number(0, accel_image.LONGEST_US),
            "Microseconds for which a region that was given to a VM waits for the VM to start a job; then it is idle. "
            "0: twice the time for which a VCPU may wait for its slice, at least 10,000.",
            default=0,
        ),
        Prop(
            "stop-us",
            Number(1, accel_image.LONGEST_US),
            "Microseconds that a HW task may take to stop, to save its context or to restore it. A task that takes "
            "longer loses its job and its region.",
            default=655,
        ),
    ),
    children={"overlays": OVERLAYS},
    named=ACCELERATOR,
    named_words="a device",
    longest_name=layout.NAME_LEN - 1,
)

POLICY = Prop(
    "policy",
    Choice(tuple(shared_image.POLICIES)),
    "Which VM's request the device serves next ([hardware-io.md](hardware-io.md#policies)).",
    default="round-robin",
)
CHUNK = Prop(
    "chunk",
    Power(shared_image.SMALLEST_CHUNK, shared_image.LARGEST_CHUNK),
    "Bytes of a request after which the requests of all VMs compete again.",
    default=128,
)
TIMES = (
    Prop(
        "timeout-us",
        Number(1, accel_image.LONGEST_US),
        "Microseconds that a chunk may take; then its request ends with status 5.",
        default=0,
        default_words="no limit",
    ),
    Prop(
        "period-us",
        Number(1, accel_image.LONGEST_US),
        "Microseconds from one replenishment of the VMs' budgets to the next.",
        default=0,
        default_words="no VM has a budget",
    ),
)

SHARED_DEVICES = NodeSchema(
    doc="Devices that several VMs use, without a call to the hypervisor ([hardware-io.md](hardware-io.md)). The "
    "hypervisor needs the component `shared`. QEMU runs their RTL beside the harts; times mean something only with "
    "`virtual-time`. Guest-physical addresses of the devices are in [virtual-platform.md](virtual-platform.md).",
    children={
        "uart": NodeSchema(
            doc="The UART, 8N1.",
            props=(
                Prop("baud", Number(300, 10**7), "Bits per second.", default=115200),
                Prop(
                    "mode",
                    Choice(tuple(shared_image.UART_MODES)),
                    "`lines`: it sends the lines of all VMs, each with its owner. `focus`: it sends what the VM with "
                    "the focus writes.",
                    default="lines",
                ),
                Prop(
                    "focus",
                    Text(layout.NAME_LEN - 1),
                    "Name of the VM that receives the input.",
                    default_words="the first VM with a UART",
                ),
                Prop(
                    "flush-us",
                    Number(1, accel_image.LONGEST_US),
                    "Microseconds after which an incomplete line, such as a prompt, is sent; up to twice as long.",
                    default=20000,
                ),
            ),
        ),
        "flash": NodeSchema(
            doc="The SPI flash.",
            props=(
                POLICY,
                CHUNK,
                *TIMES,
                Prop(
                    "sck-hz",
                    Number(10**6, 5 * 10**7),
                    "Highest frequency of its clock in Hz; half a period is a whole number of cycles.",
                    default=25 * 10**6,
                ),
                Prop(
                    "slice-us",
                    Number(shared_image.SHORTEST_SLICE_US, accel_image.LONGEST_US),
                    "Microseconds for which an erase or program operation continues before it is suspended for another "
                    "VM; the flash makes no progress in less.",
                    default=1000,
                ),
            ),
        ),
        "ethernet": NodeSchema(doc="The Ethernet port. A chunk is a frame.", props=(POLICY, *TIMES)),
        "copy": NodeSchema(doc="A device that copies memory.", props=(POLICY, CHUNK, *TIMES)),
        "display": NodeSchema(
            doc="The screen. What no VM shows is black.",
            props=(
                Prop(
                    "size",
                    Numbers("numbers", 1, shared_image.LONGEST_PHASE, count=2),
                    "Pixels of a line, and lines.",
                    required=True,
                ),
                Prop(
                    "pixel-cycles",
                    Number(1, shared_image.MAX_PIXEL_CYCLES),
                    "Cycles of a pixel.",
                    default=4,
                ),
                Prop(
                    "refresh",
                    Choice(("free", "on-request")),
                    "`free`: frames without pause. `on-request`: a frame for each pulse of the board.",
                    default="free",
                ),
                Prop(
                    "horizontal-blanking",
                    Numbers("numbers", 1, shared_image.LONGEST_PHASE, count=3),
                    "Pixels of a line's front porch, sync and back porch.",
                    default=(48, 32, 80),
                    default_words="`48 32 80`",
                ),
                Prop(
                    "vertical-blanking",
                    Numbers("numbers", 1, shared_image.LONGEST_PHASE, count=3),
                    "Lines of a frame's front porch, sync and back porch.",
                    default=(3, 4, 6),
                    default_words="`3 4 6`",
                ),
                Prop(
                    "burst-cycles",
                    Number(shared_image.BURST_WORDS, shared_image.MAX_BURST_CYCLES),
                    "Cycles that a burst of a framebuffer may take on average, with its waits for other devices. A VM "
                    "whose bursts take longer loses the rest of its line "
                    "([hardware-io.md](hardware-io.md#display)).",
                    default=0,
                    default_words="what the lines leave",
                ),
            ),
        ),
        "gpio": NodeSchema(doc="Pins, which change and are sampled on the exact cycle."),
        "spi": NodeSchema(doc="The flash as chips behind SPI controllers, one for each VM. It needs `flash`."),
    },
)

SHARED = NodeSchema(
    doc="Memory that several VMs can read and write at the same guest-physical address. It is cleared once, at boot, "
    "and keeps its contents when a VM restarts. The node's name is the region's name:",
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
        ),
        Prop(
            "quantum-us",
            Number(100, layout.QUANTUM_MAX_US),
            "Quantum of best-effort VCPUs in microseconds; usual values are 1000, 5000 and 10000.",
            default=5000,
        ),
        Prop(
            "be-reserve-us",
            Numbers("numbers", 1, 1000000, count=2),
            "Best effort's reserve: the microseconds that RT apps leave to best effort on each hart, and the window in "
            "microseconds in which they do. The window bounds the latency of everything that runs in best effort's "
            "time: the operator's keys, interrupts of devices, watchdogs. A launch that would exceed the bound is "
            "refused; see [real-time.md](real-time.md#best-efforts-reserve).",
            default=(1000, 10000),
            default_words="`1000 10000`",
        ),
        Prop(
            "virtual-time",
            Flag(),
            "QEMU runs the system in virtual time, one nanosecond per instruction, independent of the host's speed. "
            "Times of real-time apps in QEMU are meaningful only with it. One hart.",
            default=False,
        ),
        Prop(
            "ram-size",
            Address("a size", align=RAM_ALIGN, low=RAM_ALIGN, below=MOST_RAM),
            "Bytes of RAM of the machine, on a board that QEMU emulates: at least the board's `ram-size`.",
            default_words="the board's `ram-size`",
        ),
        Prop(
            "trace-kib",
            Number(0, layout.MAX_TRACE_KIB),
            "KiB of RAM for each hart's trace, which the hypervisor writes from boot; the newest events are kept, "
            "42 per KiB. See [trace.md](trace.md).",
            default=0,
            default_words="no trace",
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
            doc="Devices that QEMU emulates. A VM's `devices` assigns each of them to the VM.",
            named=DEVICE,
            named_words="a device",
        ),
        "shared": NodeSchema(
            doc=f"Memory of several VMs, at most {layout.MAX_SHARED} regions, numbered in their order from 0.",
            named=SHARED,
            named_words="a region",
        ),
        "accelerators": ACCELERATORS,
        "shared-devices": SHARED_DEVICES,
        "networks": NETWORKS,
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

BOARD_PCI = NodeSchema(
    doc="The board's PCI bus, bus 00, whose functions can be passed through. A board without this node has none.",
    props=(
        Prop(
            "configuration",
            Address(align=1 << 20, below=1 << 32),
            "Address of its configuration space (ECAM), 1 MiB.",
            required=True,
        ),
        Prop(
            "memory",
            Address(align=virtual.PCI_HOST_WINDOW, below=1 << 32),
            "Address of the bus's memory, as for the harts. The hypervisor places BARs in its first "
            f"{virtio_image.MAX_HOST_FUNCTIONS * virtual.PCI_HOST_WINDOW // MIB} MiB.",
            required=True,
        ),
        Prop(
            "interrupt",
            Number(1, 60),
            "Source of the first of its four interrupt lines, which the others follow. INTA of device d is line d % 4.",
            required=True,
        ),
        Prop("qemu-bus", Text(31), "QEMU's name of the bus.", default_words="not a bus of QEMU"),
    ),
)

MOST_FRAMES = 1 << 26  # a frame address has 26 bits, as on the 7 series


def _registers(whose: str) -> tuple[Prop, ...]:
    """Returns the properties of hardware with registers, an interrupt for its manager and one for each VM."""
    return (
        Prop("base", Address(align=RAM_ALIGN, below=1 << 56), f"Address of {whose} registers, 2 MiB.", required=True),
        Prop("interrupt", Number(1, 31), "Source of the manager's interrupt.", required=True),
        Prop(
            "vm-interrupt",
            Number(1, 31),
            "Source of the first VM's interrupt; those of the other VMs follow.",
            required=True,
        ),
    )


FABRIC = NodeSchema(
    doc="The board's reconfigurable fabric ([fabric.md](fabric.md)). A board without this node has none.",
    props=(
        *_registers("its"),
        Prop("vms", Number(1, accel_image.MAX_CLIENTS), "VMs that it can serve (`NumVms`).", required=True),
        Prop("devices", Number(1, accel_image.MAX_DEVICES), "Devices of each VM (`NumDevs`).", required=True),
        Prop(
            "size-classes",
            Numbers("numbers", 0, accel_image.MAX_SIZE_CLASS, repeats=True),
            f"Size class of each region, at most {accel_image.MAX_REGIONS} (`NumPrrs`, `PrrSizes`).",
            required=True,
        ),
        Prop(
            "frames",
            Numbers("numbers", 0, MOST_FRAMES, repeats=True),
            "For each region, the address of its first frame of configuration memory, and the number of its frames. "
            "A bitstream for the region may write no others. Required without `frames-file`.",
            default_words="those of `frames-file`",
        ),
        Prop(
            "idcode",
            Number(1, 0x0FFFFFFF),
            "IDCODE of the 7-series device, without its revision: bitstreams have the packets of this device "
            "([genesys2.md](genesys2.md)).",
            default=0,
            default_words="the simulation's port, with packets of its own",
        ),
        Prop(
            "frames-file",
            Text(95),
            "Required with `idcode`: the file with each region's frames, which `scripts/bit2simb.py` writes; searched "
            "for as the files of guests, when a system uses the fabric.",
            default_words="the regions have the frames of `frames`",
        ),
        Prop("clock-hz", Number(10**6, accel_image.FASTEST_HZ, 10**6), "Frequency of its clock in Hz.", required=True),
        Prop(
            "interrupt-cycles",
            Number(0, 10**6),
            "Longest time in cycles from an event of the fabric to its interrupt at the hart.",
            default=0,
        ),
    ),
)

BOARD_SHARED_DEVICES = NodeSchema(
    doc="The board's shared devices ([hardware-io.md](hardware-io.md)). A board without this node has none.",
    props=(
        *_registers("their"),
        Prop("vms", Number(1, shared_image.MAX_CLIENTS), "VMs that they can serve (`NumVms`).", required=True),
        Prop("devices", Words("devices", tuple(shared_image.DEVICES)), "The devices that exist.", required=True),
        Prop(
            "clock-hz", Number(10**6, accel_image.FASTEST_HZ, 10**6), "Frequency of their clock in Hz.", required=True
        ),
        Prop(
            "flash-sectors",
            Number(1, shared_image.MAX_SECTORS),
            "Sectors of the flash, 64 KiB each.",
            default=0,
            default_words="none; a flash needs some",
        ),
        Prop(
            "pins",
            Number(1, shared_image.MAX_PINS),
            "Pins of GPIO (`NumPins`).",
            default=0,
            default_words="none; GPIO needs some",
        ),
        Prop(
            "screen-width",
            Number(4, shared_image.WIDEST_SCREEN),
            "Pixels of a line that can show framebuffers (`MaxWidth`).",
            default=0,
            default_words="none; a display needs some",
        ),
        Prop(
            "burst-cycles",
            Number(shared_image.BURST_WORDS, shared_image.MAX_BURST_CYCLES),
            "Longest time in cycles from the choice of a burst of 16 words until memory has served it.",
            default=0,
            default_words="none; flash, Ethernet, copies and a display need it",
        ),
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
        "pci": BOARD_PCI,
        "fabric": FABRIC,
        "shared-devices": BOARD_SHARED_DEVICES,
    },
)
