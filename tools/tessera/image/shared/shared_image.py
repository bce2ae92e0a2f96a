# SPDX-License-Identifier: Apache-2.0
"""The binary layout of the section of the system image for shared devices, read from
devices/shared/include/shared_image.h, and limits of the hardware: `shared_image.MAX_CLIENTS` is SHARED_MAX_CLIENTS, and
`shared_image.TAG` SHARED_IMAGE_TAG."""

from tessera.cheader import read_header
from tessera.fabric.registers import register
from tessera.image import virtual

_HEADER = read_header("devices/shared/include/shared_image.h")

IMAGE, CLIENT = _HEADER.records["shared_image"], _HEADER.records["shared_image_client"]
# Fields of each arbiter, and of a line and of a frame.
CHANNEL, PHASES = (
    tuple(name for name, _ in _HEADER.records[f"shared_image_{part}"].fields) for part in ("channel", "phases")
)

CHANNELS = _HEADER.constant("SHARED_CHANNELS")

# The numbers in the hardware of each device of a system file: those of its pages, too. The first one has the policy,
# the priorities and the budgets, if any.
DEVICES = {
    name: tuple(_HEADER.constant(f"SHARED_{number}") for number in numbers)
    for name, numbers in {
        "uart": ("UART",),
        "flash": ("FLASH",),
        "ethernet": ("ETHERNET_SEND", "ETHERNET_RECEIVE"),
        "copy": ("COPY",),
        "display": ("DISPLAY",),
        "gpio": ("GPIO",),
        "spi": ("SPI",),
    }.items()
}

PAGES = _HEADER.constant("SHARED_DEVICES")  # of each VM, one for each number

POLICIES = {name.replace("_", "-"): number for name, number in _HEADER.numbered("SHARED_POLICY_").items()}
UART_MODES = _HEADER.numbered("SHARED_UART_MODE_")

# Upper bound of the section's bytes.
LARGEST = IMAGE.size + _HEADER.constant("SHARED_MAX_CLIENTS") * CLIENT.size


def _largest(field: str) -> int:
    """Returns the largest value of a field of the manager's registers."""
    return (1 << register(f"FABRIC_SHARED_{field}_WIDTH")) - 1


# The hardware itself (docs/hardware-io.md).
SIZE = register("FABRIC_SHARED_SIZE")  # bytes of its registers
MAX_SECTORS = 1 << register("FABRIC_SHARED_FLASH_WINDOW_FIRST_WIDTH")
SECTOR = 1 << 16  # bytes
MAX_PINS = register("FABRIC_SHARED_PINS_MASK_WIDTH")
MAX_PRIORITY = _largest("ALLOW_PRIO")
# The S25FL128S needs so long from the command that resumes an operation to the next one that suspends it, a typical
# value: with less, suspensions may keep the operation from its end.
SHORTEST_SLICE_US = 100
SMALLEST_CHUNK = 4
LARGEST_CHUNK = 1 << 15
LONGEST_PHASE = _largest("SCREEN_H_ACTIVE")  # of a line, pixels, or of a frame, lines
WIDEST_SCREEN = 0xFFF8 // 4  # pixels; the bytes of a line fit the stride
MAX_PIXEL_CYCLES = _largest("SCREEN_PIXEL_CYCLES")
BURST_WORDS = 16
MAX_BURST_CYCLES = _largest("SCREEN_BURST_CYCLES")
BURST_BYTES = 8 * BURST_WORDS
DMA_CLIENTS = {"flash": 2, "ethernet": 2, "copy": 2, "display": 1}  # of io_dma, which takes turns; and the completions
LEAST_DIVIDER, LARGEST_DIVIDER = 16, _largest("UART_DIVIDER")  # cycles of a bit of the UART
LONGEST_FLUSH = 1 + _largest("UART_FLUSH_TIME")  # times eight bits of the UART


def address(device: str) -> int:
    """Returns the guest-physical address of the first page of a system file's device."""
    return virtual.SHARED_BASE + DEVICES[device][0] * virtual.SHARED_PAGE


def channel(device: str) -> int | None:
    """Returns the index of the arbiter that a device has, None for a device without one."""
    number = DEVICES[device][0]
    return number - 1 if 1 <= number <= CHANNELS else None


def __getattr__(name: str) -> int:
    return _HEADER.constant(f"SHARED_{name}", f"SHARED_IMAGE_{name}")
