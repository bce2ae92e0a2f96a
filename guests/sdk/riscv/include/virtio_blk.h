/* SPDX-License-Identifier: Apache-2.0 */
/* Driver of a virtio disk. Each function waits for its request, polling or, after
 * virtio_sleep_on(&disk->device), asleep, for 10 s at most: a disk that a VM serves does not answer
 * while its server restarts. */
#ifndef GUEST_VIRTIO_BLK_H
#define GUEST_VIRTIO_BLK_H

#include "virtio.h"

#define VIRTIO_BLK_SECTOR 512U

/** The head of a request (section 5.2.6). */
struct virtio_blk_head {
    uint32_t type, reserved;
    uint64_t sector;
};

struct virtio_blk {
    struct virtio_device device;
    struct virtqueue queue;
    struct virtio_blk_head head; /* of the only request */
    uint8_t status;
    uint64_t sectors; /* capacity */
    bool read_only;
    bool flushes; /* the device has a cache that virtio_blk_flush() empties */
};

/** Opens the `number`th disk. VIRTIO_OK, VIRTIO_NO_DEVICE, VIRTIO_BROKEN. */
int virtio_blk_open(struct virtio_blk *disk, struct pci_bus *bus, unsigned int number);

/** Opens the first disk on MMIO that the device tree lists: as virtio_blk_open(). */
int virtio_blk_open_mmio(struct virtio_blk *disk, const void *fdt);

/**
 * Reads or writes `count` sectors. VIRTIO_OK; VIRTIO_INVALID beyond the disk's end, for no sector
 * or more than 2^20, and for a write to a read-only disk; VIRTIO_FAILED: the device reports an
 * error; VIRTIO_BROKEN: no answer, or a wrong one. Then the device is reset, and the disk must be
 * opened again.
 */
int virtio_blk_read(struct virtio_blk *disk, uint64_t sector, void *data, uint32_t count);
int virtio_blk_write(struct virtio_blk *disk, uint64_t sector, const void *data, uint32_t count);

/** Returns when all completed writes are in the disk: VIRTIO_OK, _FAILED, _BROKEN. */
int virtio_blk_flush(struct virtio_blk *disk);

#endif
