# SPDX-License-Identifier: Apache-2.0
"""The nodes and properties of system and board files for shared devices."""

from tessera.image import hardware, layout, virtual
from tessera.image.accel import accel_image
from tessera.image.nodes import NodeSchema, Prop, registers
from tessera.image.prop_types import Choice, Flag, Mac, Number, Numbers, Power, Text, Words
from tessera.image.shared import shared_image

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
        "Microseconds for which the device serves the VM in each `period-us`, and at most one chunk more.",
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
    f"{virtual.SHARED_IRQ} is the interrupt of all of them, and at most {hardware.DMA_WINDOWS - 1} regions of "
    f"shared memory: the devices access memory through {hardware.DMA_WINDOWS} DMA windows for each VM.",
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
                    "`own`: the VM chooses its framebuffer by the page of the display. `simple`: a "
                    "`simple-framebuffer` at the end of the VM's RAM, shown from the start on; no page.",
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
            doc="Instead of `flash`, for guests with stock drivers: a part of the flash as a chip behind an SPI "
            "controller (`sifive,spi0`, `jedec,spi-nor`).",
            props=(WINDOW, *SHARE),
        ),
    },
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
    component="shared",
    doc="Devices that several VMs use, without a call to the hypervisor ([hardware-io.md](hardware-io.md)). The "
    "hypervisor needs the component `shared`. QEMU runs their RTL beside the harts; times mean something only with "
    "`virtual-time`.",
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
                    "Microseconds for which an erase or program operation continues before it is suspended for "
                    "another VM.",
                    default=1000,
                ),
            ),
        ),
        "ethernet": NodeSchema(doc="The Ethernet device. A chunk is a frame.", props=(POLICY, *TIMES)),
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
                    "Cycles that a burst of a framebuffer may take on average, waits included "
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

BOARD_SHARED_DEVICES = NodeSchema(
    doc="The board's shared devices ([hardware-io.md](hardware-io.md)).",
    props=(
        *registers("their"),
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
