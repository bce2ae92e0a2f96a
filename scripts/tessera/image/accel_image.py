# SPDX-License-Identifier: Apache-2.0
"""The binary layout of the fabric's section of the system image, and limits of the fabric.

The layout is devices/accel/include/accel_image.h in Python; tests/image/test_image_accelerators.py compares
every offset, size and constant with the header.
"""

from tessera.image.layout import NAME_LEN, Record

TAG = 0x47504658

MAX_CLIENTS = 16
MAX_DEVICES = 16
MAX_REGIONS = 8
MAX_FRAMES = 64  # blocks of frames of all regions
MAX_OVERLAYS = 16
MAX_PROVIDED = 32  # by one overlay

MODELS = {"native": 0, "guest": 1}

AES128_TASK = 5  # the HW task that computes AES-CBC

IMAGE = Record(
    "accel_image",
    (
        ("fabric", "Q"),
        ("irq", "I"),
        ("regions", "I"),
        ("hold_cycles", "I"),
        ("stop_cycles", "I"),
        ("nclients", "I"),
        ("clients_offset", "I"),
        ("ndevices", "I"),
        ("devices_offset", "I"),
        ("nbitstreams", "I"),
        ("bitstreams_offset", "I"),
        ("naccels", "I"),
        ("accels_offset", "I"),
        ("monitors", "I"),
        ("nframes", "I"),
        ("frames_offset", "I"),
        ("noverlays", "I"),
        ("overlays_offset", "I"),
        ("nfragments", "I"),
        ("fragments_offset", "I"),
        ("nprovided", "I"),
        ("provided_offset", "I"),
        ("clock_khz", "I"),
        ("interrupt_cycles", "I"),
        ("section_ns", "I"),
        ("sources", "I"),
        ("timers", "I"),
        ("idcode", "I"),
        ("reserved", "I"),
    ),
)
FRAMES = Record("accel_image_frames", (("region", "I"), ("first", "I"), ("count", "I"), ("reserved", "I")))
CLIENT = Record("accel_image_client", (("vm", "I"), ("event_irq", "I"), ("may_raise", "I"), ("operated", "I")))
DEVICE = Record(
    "accel_image_device",
    (("name", f"{NAME_LEN}s"), ("task", "I"), ("size_class", "I"), ("regions", "I"), ("stop_cycles", "I")),
)
BITSTREAM = Record(
    "accel_image_bitstream", (("device", "I"), ("region", "I"), ("offset", "Q"), ("size", "I"), ("verify", "I"))
)
ACCEL = Record("accel_image_accel", (("client", "I"), ("device", "I"), ("priority", "I"), ("model", "I"), ("gpa", "Q")))
OVERLAY = Record(
    "accel_image_overlay",
    (
        ("name", f"{NAME_LEN}s"),
        ("controllers", "I"),
        ("first_fragment", "I"),
        ("nfragments", "I"),
        ("first_provided", "I"),
        ("nprovided", "I"),
        ("reserved", "I"),
    ),
)
FRAGMENT = Record("accel_image_fragment", (("region", "I"), ("device", "I")))
PROVIDED = Record("accel_image_provided", (("client", "I"), ("device", "I"), ("status", "Q")))

RECORDS = (IMAGE, FRAMES, CLIENT, DEVICE, BITSTREAM, ACCEL, OVERLAY, FRAGMENT, PROVIDED)

# Upper bound of the section's bytes.
LARGEST = (
    IMAGE.size
    + MAX_FRAMES * FRAMES.size
    + MAX_CLIENTS * CLIENT.size
    + MAX_DEVICES * (DEVICE.size + MAX_REGIONS * BITSTREAM.size + MAX_CLIENTS * (ACCEL.size + PROVIDED.size))
    + MAX_OVERLAYS * (OVERLAY.size + MAX_REGIONS * FRAGMENT.size)
)

# The fabric itself (docs/fabric.md).
FABRIC_SIZE = 0x200000  # bytes of its registers
DMA_WINDOWS = 4  # for each VM
MAX_PRIORITY = 15
MAX_SIZE_CLASS = 3
LONGEST_US = 10**7  # HOLD_TIME and STOP_TIME have 32 bits, in cycles of at most FASTEST_HZ
FASTEST_HZ = 4 * 10**8
