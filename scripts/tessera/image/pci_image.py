# SPDX-License-Identifier: Apache-2.0
"""The binary layout of the section of the system image for virtual PCI functions, and their limits.

The layout is devices/virtio/include/virtio_image.h in Python; tests/image/test_image_pci.py compares every
offset, size and constant with the header.
"""

from tessera.image.layout import Record

TAG = 0x49435056

MAX_FUNCTIONS = 32  # in all VMs
MAX_FUNCTIONS_PER_VM = 8
MAX_HOST_FUNCTIONS = 4  # of the machine's bus, in all VMs
MAX_NETWORKS = 16
CONSOLE_PORTS = 4
CONSOLE_NAME = 32  # bytes of a line's name, with the 0 behind it

# The number of each model. A system file may have those of MODELS.
KINDS = {
    "net": 1,
    "block": 2,
    "console": 3,
    "entropy": 4,
    "socket": 19,
    "crypto": 20,
    "disk_server": 63,
    "ivshmem": 0x110,
    "accelerator": 0x111,
    "host": 0x112,
    "hardware_io": 0x113,
}
MODELS = {
    "virtio-net": KINDS["net"],
    "virtio-blk": KINDS["block"],
    "virtio-rng": KINDS["entropy"],
    "virtio-vsock": KINDS["socket"],
    "ivshmem": KINDS["ivshmem"],
    "virtio-console": KINDS["console"],
    "virtio-crypto": KINDS["crypto"],
    "accelerator": KINDS["accelerator"],
    "host": KINDS["host"],
    "hardware-io": KINDS["hardware_io"],
    "disk-server": KINDS["disk_server"],
}

READ_ONLY = 1 << 0  # of a disk
UPLINK = 1 << 1  # of a network
SERVED = 1 << 2  # of a disk
DMA = 1 << 3  # of an accelerator, or of hardware-io
OFFLOADS = 1 << 4  # of all functions of a network

IMAGE = Record("virtio_image", (("nfunctions", "I"), ("functions_offset", "I")))
FUNCTION = Record(
    "virtio_image_function",
    (
        ("vm", "I"),
        ("slot", "I"),
        ("kind", "I"),
        ("flags", "I"),
        ("mac", "Q"),
        ("network", "I"),
        ("vlan", "I"),
        ("frames_per_ms", "I"),
        ("multicast_per_ms", "I"),
        ("cid", "I"),
        ("peers", "I"),
        ("shared", "I"),
        ("ports", "I"),
        ("server", "I"),
        ("unused", "I"),
        ("disk", "Q"),
        ("disk_size", "Q"),
        ("content", "Q"),
        ("content_size", "Q"),
        ("device", "I"),
        ("task", "I"),
        ("other_functions", "8s"),
        ("other_ports", "8s"),
        ("names", "128s"),
        ("config", "Q"),
        ("window", "Q"),
        ("irq", "I"),
        ("unit", "I"),
    ),
)

LARGEST = IMAGE.size + MAX_FUNCTIONS * FUNCTION.size  # upper bound of the section's bytes

SECTOR = 512  # bytes; a disk has a whole number of them
SMALLEST_CID, LARGEST_CID = 3, 0xFFFFFFFE  # the lower ones are the hypervisor's, the host's and reserved
LARGEST_VLAN = 4094
MOST_FRAMES_PER_MS = 10**6
