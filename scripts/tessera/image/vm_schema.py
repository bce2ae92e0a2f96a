# SPDX-License-Identifier: Apache-2.0
"""The node of a VM, and its properties."""

from tessera.image import layout, virtual
from tessera.image.accel import schema as accel
from tessera.image.nodes import RAM_ALIGN, NodeSchema, Prop
from tessera.image.prop_types import Address, Choice, Flag, Number, Numbers, Text, Words
from tessera.image.rt import schema as rt
from tessera.image.shared import schema as shared
from tessera.image.virtio import schema as virtio

LONGEST_MS = 3600000


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

VM_PROPS = (
    Prop("colour", Choice(tuple(COLOURS)), "Colour of the VM's name on the console.", default_words="by order"),
    Prop(
        "vcpus",
        Number(1, layout.MAX_VCPUS_PER_VM),
        "Number of virtual CPUs; may exceed `harts`.",
        default=1,
        field="nvcpus",
    ),
    *rt.VM_PROPS,
    Prop(
        "may-send-to",
        Words("VM names"),
        "Other VMs that the VM may send messages to.",
        default=(),
        default_words="none",
        component="ipc",
    ),
    Prop(
        "message-interrupt",
        Number(1, virtual.PLIC_SOURCES),
        "Source of the VM's interrupt controller that is high while a message to VCPU 0 or a doorbell is pending.",
        default_words="the VCPU's software interrupt",
        field="message_irq",
        component="ipc",
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
        field="watchdog_ms",
    ),
    Prop(
        "restart-pause-max-ms",
        Number(0, LONGEST_MS),
        "Longest backoff in milliseconds before a VM that fails repeatedly is restarted. "
        "[Restarts](virtual-platform.md#restarts) describes the backoff.",
        default=10000,
        field="restart_pause_max_ms",
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
        field="irqs_per_ms",
    ),
    *accel.VM_PROPS,
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
        "accelerators": accel.VM_ACCELERATORS,
        "shared-devices": shared.VM_SHARED_DEVICES,
        "pci": virtio.VM_FUNCTIONS,
        "memory": NodeSchema(
            doc=f"Further RAM of the VM, at other guest-physical addresses: a VM has at most {layout.MAX_REGIONS} "
            "pieces of memory, the RAM of `memory-size`, `dma-memory`, shared regions and devices included. The "
            "builder loads nothing into it. RISC-V only.",
            named=MORE_MEMORY,
            named_words="a piece of RAM",
        ),
    },
)
