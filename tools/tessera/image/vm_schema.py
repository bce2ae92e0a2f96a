# SPDX-License-Identifier: Apache-2.0
"""The node of a VM, and its properties."""

from tessera.image import layout, loads, memory, virtual
from tessera.image.accel import schema as accel
from tessera.image.components import VM_NODES
from tessera.image.emulated import EMULATED
from tessera.image.nodes import RAM_ALIGN, NodeSchema, Prop
from tessera.image.prop_types import Address, Choice, Flag, Number, Text, Words
from tessera.image.rt import schema as rt

LONGEST_MS = 3600000


# ANSI foreground codes by name; VMs without a `colour` get DEFAULT_COLOURS in this order.
_HUES = ("red", "green", "yellow", "blue", "magenta", "cyan", "white")

COLOURS = {name: 31 + n for n, name in enumerate(_HUES)} | {f"bright-{name}": 91 + n for n, name in enumerate(_HUES)}

DEFAULT_COLOURS = ("green", "yellow", "cyan", "magenta", "blue", "red", "white")

# The features that a guest's device tree can list; the rest of layout.FEATURES concerns the
# hypervisor only.
GUEST_FEATURES = ("sstc", "svpbmt", "zbb", "zba", "zbs", "zicboz", "zicbom", "svinval", "svadu", "zawrs")

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
        "Host-physical address of the RAM, for a guest with a device that sees no translated addresses: set "
        "`memory-base` to the same value.",
        default_words="the lowest free place above the system image",
    ),
    memory.DMA,
    *loads.PROPS,
    Prop("bootargs", Text(1023, joined=True), "The guest's command line.", default_words="none"),
    Prop(
        "sign-of-life",
        Text(79),
        "Text that the guest prints once it works; `make smoke` waits for it. Required without `manual-start`.",
        default_words="none",
    ),
    Prop("on-fatal", Choice(("stop", "restart")), "Action on a fatal trap of the guest.", default="stop"),
    Prop(
        "watchdog-ms",
        Number(0, LONGEST_MS),
        "Milliseconds within which the guest must call HCALL_WATCHDOG_PET again, from its start on; otherwise the VM "
        "is restarted. The period is longer than a round of all VCPUs' slices and one wait for best effort's reserve "
        "([virtual-platform.md](virtual-platform.md#restarts)).",
        default=0,
        default_words="no watchdog",
        field="watchdog_ms",
    ),
    Prop(
        "restart-pause-max-ms",
        Number(0, LONGEST_MS),
        "Longest [backoff](virtual-platform.md#restarts) in milliseconds before a VM that fails repeatedly is "
        "restarted.",
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
    *(one.prop for one in EMULATED),
    Prop(
        "isa",
        Words("features", GUEST_FEATURES, may_be_empty=True),
        "Optional features that the device tree lists if the machine has them.",
        default_words="all of them",
    ),
    Prop(
        "devices",
        Words("device names"),
        "Devices passed through: nodes of `/devices` that are no PCI functions, or devices of the board. Their DMA is "
        "not confined to the VM.",
        default=(),
        default_words="none",
    ),
    Prop(
        "interrupts-per-ms",
        Number(0, layout.MAX_IRQS_PER_MS),
        "Interrupts per millisecond that each of the `devices` and of the machine's PCI functions, the accelerators "
        f"together, and the shared devices together may cause, with bursts of up to {layout.IRQ_BURST}. Further "
        "interrupts stay pending until the rate allows them. 0: no limit.",
        default=20,
        field="irqs_per_ms",
    ),
    *accel.VM_PROPS,
)

VM = NodeSchema(
    doc="A virtual machine.",
    props=VM_PROPS,
    children={
        **VM_NODES,
        "memory": memory.MORE,
    },
)
