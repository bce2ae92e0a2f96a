# SPDX-License-Identifier: Apache-2.0
"""The binary layout of the section of the system image for virtual PCI functions, read from
devices/virtio/include/virtio_image.h, and their limits: `virtio_image.MAX_NETWORKS` is VIRTIO_MAX_NETWORKS, and
`virtio_image.TAG` VIRTIO_IMAGE_TAG."""

from tessera.cheader import read_header

_HEADER = read_header("devices/virtio/include/virtio_image.h")

IMAGE, FUNCTION = _HEADER.records["virtio_image"], _HEADER.records["virtio_image_function"]

# The number of each model. A system file may have those of MODELS.
KINDS = _HEADER.numbered("VIRTIO_IMAGE_", "virtio_image_kind")
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

LARGEST = IMAGE.size + _HEADER.constant("VIRTIO_MAX_FUNCTIONS") * FUNCTION.size  # upper bound of the section's bytes

SECTOR = 512  # bytes; a disk has a whole number of them
SMALLEST_CID, LARGEST_CID = 3, 0xFFFFFFFE  # the lower ones are the hypervisor's, the host's and reserved
LARGEST_VLAN = 4094
MOST_FRAMES_PER_MS = 10**6


def __getattr__(name: str) -> int:
    return _HEADER.constant(f"VIRTIO_{name}", f"VIRTIO_IMAGE_{name}")
