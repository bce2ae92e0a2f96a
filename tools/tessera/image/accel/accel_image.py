# SPDX-License-Identifier: Apache-2.0
"""The binary layout of the fabric's section of the system image, read from devices/accel/include/accel_image.h, and
limits of the fabric: `accel_image.MAX_CLIENTS` is ACCEL_MAX_CLIENTS, and `accel_image.TAG` ACCEL_IMAGE_TAG."""

from tessera.cheader import read_header
from tessera.fabric.registers import register

_HEADER = read_header("devices/accel/include/accel_image.h")

IMAGE = _HEADER.records["accel_image"]
FRAMES, CLIENT, DEVICE, BITSTREAM, ACCEL, OVERLAY, FRAGMENT, PROVIDED = (
    _HEADER.records[f"accel_image_{name}"]
    for name in ("frames", "client", "device", "bitstream", "accel", "overlay", "fragment", "provided")
)

MODELS = _HEADER.numbered("ACCEL_IMAGE_MODEL_")

AES128_TASK = 5  # the HW task that computes AES-CBC

# The fabric itself (docs/fabric.md).
FABRIC_SIZE = register("FABRIC_SPAN")  # bytes of its registers
MAX_PRIORITY = (1 << register("FABRIC_REGS_REQUEST_PRIO_WIDTH")) - 1
MAX_SIZE_CLASS = 3
LONGEST_US = 10**7  # HOLD_TIME and STOP_TIME have 32 bits, in cycles of at most FASTEST_HZ
FASTEST_HZ = 4 * 10**8


def _largest() -> int:
    frames, clients, devices, regions, overlays = (
        _HEADER.constant(f"ACCEL_MAX_{name}") for name in ("FRAMES", "CLIENTS", "DEVICES", "REGIONS", "OVERLAYS")
    )
    return (
        IMAGE.size
        + frames * FRAMES.size
        + clients * CLIENT.size
        + devices * (DEVICE.size + regions * BITSTREAM.size + clients * (ACCEL.size + PROVIDED.size))
        + overlays * (OVERLAY.size + regions * FRAGMENT.size)
    )


LARGEST = _largest()  # upper bound of the section's bytes


def __getattr__(name: str) -> int:
    return _HEADER.constant(f"ACCEL_{name}", f"ACCEL_IMAGE_{name}")
