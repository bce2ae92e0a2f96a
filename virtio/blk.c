/* SPDX-License-Identifier: Apache-2.0 */
/*
 * virtio-blk (virtio 1.2, section 5.2) on a disk in the machine's RAM, which the system file gives its first content and which keeps its
 * content over restarts of the VM. Data is copied in steps, so a request is done when it is returned, and there is nothing to flush.
 */
#include "lib.h"
#include "virtio.h"

#define QUEUE_REQUESTS 0U
#define CLASS_STORAGE 0x018000U
#define SECTOR 512U

#define FEATURE_SEG_MAX (UINT64_C(1) << 2)
#define FEATURE_READ_ONLY (UINT64_C(1) << 5)
#define FEATURE_FLUSH (UINT64_C(1) << 9)

#define TYPE_READ 0U
#define TYPE_WRITE 1U
#define TYPE_FLUSH 4U
#define TYPE_GET_ID 8U
#define STATUS_OK 0U
#define STATUS_IOERR 1U
#define STATUS_UNSUPPORTED 2U

#define ID_SIZE 20U
#define SEGMENTS (VIRTIO_QUEUE_SIZE - 2U) /* of a request, beside its header and its status */
#define CONFIG_CAPACITY 0U
#define CONFIG_SEG_MAX 12U

struct request {
    uint32_t type, reserved;
    uint64_t sector;
};

struct disk {
    char *content;
    uint64_t size; /* bytes */
    /* Guarded by the lock of the queue: */
    bool busy; /* with a request, which is still in the queue */
    uint8_t status;
    struct request request;
    uint64_t at;      /* offset of the next byte */
    uint32_t written; /* to the guest's memory */
    struct virtio_chain rest;
};

static struct disk disks[VIRTIO_MAX_FUNCTIONS]; /* by number of the function; owner: this file */

static const char *blk_boot(struct virtio_device *dev)
{
    const struct virtio_image_function *config = dev->config;
    struct disk *disk = &disks[virtio_number(dev)];

    disk->content = arch_memory((hpa_t)config->disk);
    disk->size = config->disk_size;
    dev->data = disk;
    dev->offered |= (config->flags & VIRTIO_IMAGE_READ_ONLY) != 0 ? FEATURE_READ_ONLY : 0;
    return NULL;
}

static uint32_t blk_config(const struct virtio_device *dev, unsigned offset)
{
    const struct disk *disk = dev->data;

    if (offset < CONFIG_CAPACITY + 8U) {
        return (uint32_t)(disk->size / SECTOR >> offset * 8U);
    }
    return offset == CONFIG_SEG_MAX ? SEGMENTS : 0;
}

/* --- a request --- */

/* Whether the disk can do the request; the length of its data is not known yet. */
static uint8_t judge(const struct virtio_device *dev, const struct disk *disk)
{
    bool read_only = (dev->config->flags & VIRTIO_IMAGE_READ_ONLY) != 0;

    switch (disk->request.type) {
    case TYPE_WRITE:
        return read_only || disk->request.sector > disk->size / SECTOR ? STATUS_IOERR : STATUS_OK;
    case TYPE_READ:
        return disk->request.sector > disk->size / SECTOR ? STATUS_IOERR : STATUS_OK;
    case TYPE_FLUSH:
    case TYPE_GET_ID:
        return STATUS_OK;
    default:
        return STATUS_UNSUPPORTED;
    }
}

static enum virtio_found begin_request(const struct virtio_device *dev, struct disk *disk, struct virtq *q)
{
    enum virtio_found found = virtq_first(dev, q, VIRTIO_QUEUE_SIZE, &disk->rest);

    if (found == VIRTIO_SOME) {
        found = virtio_chain_read(&disk->rest, &disk->request, sizeof(disk->request));
    }
    if (found == VIRTIO_SOME) {
        disk->busy = true;
        disk->status = judge(dev, disk);
        disk->at = disk->request.type <= TYPE_WRITE ? disk->request.sector * SECTOR : 0;
        disk->written = 0;
    }
    return found;
}

/* The part of the disk, or of its name, that the next `*n` bytes of a request are, fewer at the end; NULL beyond it. */
static char *data_at(struct disk *disk, const struct virtio_device *dev, uint32_t *n)
{
    static char id[VIRTIO_MAX_FUNCTIONS][ID_SIZE];
    bool name = disk->request.type == TYPE_GET_ID;
    uint64_t size = name ? ID_SIZE : disk->size;

    if (disk->at >= size) {
        return NULL;
    }
    *n = *n < size - disk->at ? *n : (uint32_t)(size - disk->at);
    if (!name) {
        return disk->content + disk->at;
    }
    memcpy(id[disk - disks], dev->vm->config->name, SYSIMAGE_NAME_LEN);
    return id[disk - disks] + disk->at;
}

/* Copies the next bytes of data, at most `n`. Data beyond the disk, or of no use, is skipped. */
static void copy_data(const struct virtio_device *dev, struct disk *disk, uint32_t n)
{
    struct virtio_chain *rest = &disk->rest;
    bool useful = disk->status == STATUS_OK && disk->request.type != TYPE_FLUSH &&
                  rest->writable == (disk->request.type != TYPE_WRITE);
    char *data = useful ? data_at(disk, dev, &n) : NULL;

    if (data != NULL) {
        virtio_copy(rest->writable ? rest->at : data, rest->writable ? data : rest->at, n);
        disk->at += n;
        disk->written += rest->writable ? n : 0;
    } else if (useful && disk->request.type != TYPE_GET_ID) {
        disk->status = STATUS_IOERR;
    }
    virtio_chain_advance(rest, n);
}

static void end_request(struct virtio_device *dev, struct disk *disk, struct virtq *q)
{
    if (disk->request.type <= TYPE_WRITE && disk->at % SECTOR != 0) {
        disk->status = STATUS_IOERR;
    }
    *disk->rest.at = (char)disk->status;
    disk->busy = false;
    virtio_done(dev, q, disk->rest.head, disk->written + 1U);
}

/* One buffer of the request, or a piece of it. The last byte that the device may write is the status. */
static enum virtio_found data_step(struct virtio_device *dev, struct disk *disk, struct virtq *q)
{
    struct virtio_chain *rest = &disk->rest;
    enum virtio_found found = virtio_chain_span(rest);
    uint32_t n;

    if (found != VIRTIO_SOME) {
        return found; /* no byte for the status */
    }
    n = rest->room - (rest->writable && rest->next == CHAIN_END ? 1U : 0);
    if (n == 0) {
        end_request(dev, disk, q);
    } else {
        copy_data(dev, disk, n < VIRTIO_PIECE ? n : VIRTIO_PIECE);
    }
    return VIRTIO_SOME;
}

static struct virtio_step blk_step(struct virtio_device *dev, struct virtq *q)
{
    struct disk *disk = dev->data;
    enum virtio_found found = disk->busy ? data_step(dev, disk, q) : begin_request(dev, disk, q);

    return (struct virtio_step){.broken = found == VIRTIO_SOME ? NULL : dev};
}

static void blk_reset(struct virtio_device *dev)
{
    struct disk *disk = dev->data;

    spin_lock(&dev->queues[QUEUE_REQUESTS].lock);
    disk->busy = false;
    spin_unlock(&dev->queues[QUEUE_REQUESTS].lock);
}

const struct virtio_class virtio_block = {
    .type = VIRTIO_IMAGE_BLOCK,
    .queues = 1,
    .pci_class = CLASS_STORAGE,
    .features = FEATURE_SEG_MAX | FEATURE_FLUSH,
    .boot = blk_boot,
    .config = blk_config,
    .requests = 1U << QUEUE_REQUESTS,
    .step = blk_step,
    .reset = blk_reset,
};
