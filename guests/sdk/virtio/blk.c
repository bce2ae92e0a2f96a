/* SPDX-License-Identifier: Apache-2.0 */
/* Driver of a virtio disk, with one request at a time (virtio_blk.h). The caller owns struct
 * virtio_blk. */
#include "virtio_blk.h"

#define F_READ_ONLY (UINT64_C(1) << 5)
#define F_FLUSH (UINT64_C(1) << 9)
#define QUEUE_REQUESTS 0U
#define ENTRIES 8U
#define CONFIG_SECTORS 0U
#define TYPE_READ 0U
#define TYPE_WRITE 1U
#define TYPE_FLUSH 4U
#define STATUS_OK 0U
#define STATUS_NONE 0xffU /* the device has not written it */
#define MOST (1U << 20)
#define WAIT_MS 10000U

static int start(struct virtio_blk *disk)
{
    int result = virtio_add_queue(&disk->device, QUEUE_REQUESTS, &disk->queue, ENTRIES);

    if (result != VIRTIO_OK) {
        return result;
    }
    disk->sectors = virtio_config64(&disk->device, CONFIG_SECTORS);
    disk->read_only = (disk->device.features & F_READ_ONLY) != 0;
    disk->flushes = (disk->device.features & F_FLUSH) != 0;
    virtio_start(&disk->device);
    return VIRTIO_OK;
}

int virtio_blk_open(struct virtio_blk *disk, struct pci_bus *bus, unsigned int number)
{
    int result = virtio_open(&disk->device, bus, VIRTIO_BLK, number, F_READ_ONLY | F_FLUSH);

    return result == VIRTIO_OK ? start(disk) : result;
}

int virtio_blk_open_mmio(struct virtio_blk *disk, const void *fdt)
{
    int result = virtio_open_mmio(&disk->device, fdt, VIRTIO_BLK, F_READ_ONLY | F_FLUSH);

    return result == VIRTIO_OK ? start(disk) : result;
}

/* Waits for the only request. The device could write to its memory later, so it is reset if it does
 * not answer. */
static int finish(struct virtio_blk *disk)
{
    uint32_t bytes;

    virtqueue_notify(&disk->queue);
    if (virtio_wait(&disk->device, &disk->queue, WAIT_MS) != VIRTIO_OK ||
        virtqueue_take(&disk->queue, &bytes) < 0) {
        disk->queue.broken = true;
        virtio_reset(&disk->device);
        return VIRTIO_BROKEN;
    }
    return *(volatile uint8_t *)&disk->status == STATUS_OK ? VIRTIO_OK : VIRTIO_FAILED;
}

/* Head, data unless there are none, status. */
static int request(struct virtio_blk *disk, uint32_t type, uint64_t sector, void *data,
                   uint32_t bytes)
{
    struct virtqueue_part parts[3] = {{&disk->head, sizeof(disk->head), false}};
    unsigned int count = 1;
    int result;

    disk->head = (struct virtio_blk_head){.type = type, .sector = sector};
    disk->status = STATUS_NONE;
    if (bytes != 0) {
        parts[count++] = (struct virtqueue_part){data, bytes, type == TYPE_READ};
    }
    parts[count++] = (struct virtqueue_part){&disk->status, 1, true};
    result = virtqueue_add(&disk->queue, parts, count);
    return result < 0 ? result : finish(disk);
}

static bool in_disk(const struct virtio_blk *disk, uint64_t sector, uint32_t count)
{
    return count >= 1 && count <= MOST && sector <= disk->sectors &&
           count <= disk->sectors - sector;
}

int virtio_blk_read(struct virtio_blk *disk, uint64_t sector, void *data, uint32_t count)
{
    if (!in_disk(disk, sector, count)) {
        return VIRTIO_INVALID;
    }
    return request(disk, TYPE_READ, sector, data, count * VIRTIO_BLK_SECTOR);
}

int virtio_blk_write(struct virtio_blk *disk, uint64_t sector, const void *data, uint32_t count)
{
    if (!in_disk(disk, sector, count) || disk->read_only) {
        return VIRTIO_INVALID;
    }
    return request(disk, TYPE_WRITE, sector, (void *)(uintptr_t)data, count * VIRTIO_BLK_SECTOR);
}

int virtio_blk_flush(struct virtio_blk *disk)
{
    return disk->flushes ? request(disk, TYPE_FLUSH, 0, NULL, 0) : VIRTIO_OK;
}
