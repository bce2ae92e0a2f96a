# SPDX-License-Identifier: Apache-2.0
"""The binary layout of the section of the system image for shared devices, and limits of the hardware.

The layout is devices/shared/include/shared_image.h in Python; tests/image/test_image_shared_devices.py compares
every offset, size and constant with the header.
"""

from tessera.image import virtual
from tessera.image.layout import Record

TAG = 0x44534958

MAX_CLIENTS = 16
CHANNELS = 4  # devices with an arbiter: 1 + index

# Number of each device of the hardware, which is that of its page, too.
NUMBERS = {
    "uart": 0,
    "flash": 1,
    "ethernet-send": 2,
    "ethernet-receive": 3,
    "copy": 4,
    "display": 5,
    "gpio": 6,
    "spi": 7,
}
# Those of each device of a system file. The first one has the policy, the priorities and the budgets, if any.
DEVICES = {
    "uart": (0,),
    "flash": (1,),
    "ethernet": (2, 3),
    "copy": (4,),
    "display": (5,),
    "gpio": (6,),
    "spi": (7,),
}

POLICIES = {"round-robin": 0, "priority": 1, "edf": 2}
UART_MODES = {"lines": 0, "focus": 1}

PHASES = ("active", "front", "sync", "back")  # of a line, and of a frame

CHANNEL = (
    *("policy", "size", "timeout_cycles", "period_cycles"),
    *("chunk_cycles", "least_cycles", "wait_cycles", "reserved"),
)

IMAGE = Record(
    "shared_image",
    (
        ("base", "Q"),
        ("clock_hz", "Q"),
        ("irq", "I"),
        ("vm_irq", "I"),
        ("devices", "I"),
        ("nclients", "I"),
        ("clients_offset", "I"),
        ("flash_half", "I"),
        ("flash_deselect", "I"),
        ("flash_slice", "I"),
        *((f"channels[{index}].{field}", "I") for index in range(CHANNELS) for field in CHANNEL),
        *((f"screen_{axis}.{phase}", "H") for axis in "hv" for phase in PHASES),
        ("pixel_cycles", "H"),
        ("burst_cycles", "H"),
        ("on_request", "I"),
        ("uart_divider", "I"),
        ("uart_flush", "I"),
        ("uart_mode", "I"),
        ("uart_focus", "I"),
    ),
)
CLIENT = Record(
    "shared_image_client",
    (
        ("vm", "I"),
        ("guest_irq", "I"),
        ("devices", "I"),
        ("flash_first", "I"),
        ("flash_sectors", "I"),
        ("pins", "I"),
        ("mac", "Q"),
        ("ethernet", "I"),
        ("vlan", "I"),
        *((f"priority[{index}]", "I") for index in range(CHANNELS)),
        *((f"budget[{index}]", "I") for index in range(CHANNELS)),
        ("gpa", "Q"),
        ("rect.x", "H"),
        ("rect.y", "H"),
        ("rect.width", "H"),
        ("rect.height", "H"),
        ("framebuffer", "Q"),
    ),
)

LARGEST = IMAGE.size + MAX_CLIENTS * CLIENT.size  # upper bound of the section's bytes

# The hardware itself (docs/hardware-io.md).
SIZE = 0x200000  # bytes of its registers
MAX_SECTORS = 256
SECTOR = 1 << 16  # bytes
MAX_PINS = 32
MAX_PRIORITY = 15
# The S25FL128S needs so long from the command that resumes an operation to the next one that suspends it, a typical
# value: with less, suspensions may keep the operation from its end.
SHORTEST_SLICE_US = 100
SMALLEST_CHUNK = 4
LARGEST_CHUNK = 1 << 15
LONGEST_PHASE = 0xFFFF  # of a line, pixels, or of a frame, lines
WIDEST_SCREEN = 0xFFF8 // 4  # pixels; the bytes of a line fit the stride
MAX_PIXEL_CYCLES = 0xFF
BURST_WORDS = 16
MAX_BURST_CYCLES = 0xFFF
BURST_BYTES = 8 * BURST_WORDS
DMA_CLIENTS = {"flash": 2, "ethernet": 2, "copy": 2, "display": 1}  # of io_dma, which takes turns; and the completions
LEAST_DIVIDER, LARGEST_DIVIDER = 16, 0xFFFF  # cycles of a bit of the UART
LONGEST_FLUSH = 0x1000  # times eight bits of the UART


def address(device: str) -> int:
    """Returns the guest-physical address of the first page of a system file's device."""
    return virtual.SHARED_BASE + DEVICES[device][0] * virtual.SHARED_PAGE


def channel(device: str) -> int | None:
    """Returns the index of the arbiter that a device has, None for a device without one."""
    number = DEVICES[device][0]
    return number - 1 if 1 <= number <= CHANNELS else None
