/* SPDX-License-Identifier: Apache-2.0 */
/*
 * virtio-blk (virtio 1.2, section 5.2) on a disk in the machine's RAM, which the system file gives
 * its first content and which keeps its content over restarts of the VM. Data is copied in steps,
 * so a request is done when it is returned, and there is nothing to flush. Or another VM serves the
 * disk (server.c).
 */
#include "blk.h"
#include "lib.h"

#define QUEUE_REQUESTS 0U
#define CLASS_STORAGE 0x018000U

#define FEATURE_SEG_MAX (UINT64_C(1) << 2)
#define FEATURE_READ_ONLY (UINT64_C(1) << 5)

#define ID_SIZE 20U
#define SEGMENTS (VIRTIO_QUEUE_SIZE - 2U) /* of a request, without its header and its status */
#define CONFIG_CAPACITY 0U
#define CONFIG_SEG_MAX 12U

/* by number of the function; owner: this file */
static struct blk_disk disks[VIRTIO_MAX_FUNCTIONS];

/* Finds the server of the disk, a part of whose disk it is. */
static const char *find_server(const struct virtio_device *dev, struct blk_disk *disk)
{
    const struct virtio_image_function *config = dev->config, *all = config - virtio_number(dev);

    if (config->server >= virtio_device_count ||
        all[config->server].kind != VIRTIO_IMAGE_DISK_SERVER || config->disk % BLK_SECTOR != 0 ||
        config->disk_size % BLK_SECTOR != 0 || config->disk_size == 0 || config->disk > INT64_MAX ||
        config->disk_size > INT64_MAX) {
        return "the image has a wrong server of a disk";
    }
    disk->server = &virtio_devices[config->server];
    return NULL;
}

static const char *blk_boot(struct virtio_device *dev)
{
    const struct virtio_image_function *config = dev->config;
    struct blk_disk *disk = &disks[virtio_number(dev)];
    bool served = (config->flags & VIRTIO_IMAGE_SERVED) != 0;

    *disk = (struct blk_disk){.content = served ? NULL : arch_memory((hpa_t)config->disk),
                              .size = config->disk_size};
    dev->data = disk;
    dev->offered |= (config->flags & VIRTIO_IMAGE_READ_ONLY) != 0 ? FEATURE_READ_ONLY : 0;
    return served ? find_server(dev, disk) : NULL;
}

static uint32_t blk_config(const struct virtio_device *dev, unsigned offset)
{
    const struct blk_disk *disk = dev->data;

    if (offset < CONFIG_CAPACITY + 8U) {
        return (uint32_t)(disk->size / BLK_SECTOR >> offset * 8U);
    }
    return offset == CONFIG_SEG_MAX ? SEGMENTS : 0;
}

/* --- a request --- */

/* Whether the disk can do the request; the length of its data is not known yet. */
static uint8_t judge(const struct virtio_device *dev, const struct blk_disk *disk)
{
    bool read_only = (dev->config->flags & VIRTIO_IMAGE_READ_ONLY) != 0;

    switch (disk->request.type) {
    case BLK_WRITE:
        return read_only || disk->request.sector > disk->size / BLK_SECTOR ? BLK_IOERR : BLK_OK;
    case BLK_READ:
        return disk->request.sector > disk->size / BLK_SECTOR ? BLK_IOERR : BLK_OK;
    case BLK_FLUSH:
    case BLK_GET_ID:
        return BLK_OK;
    default:
        return BLK_UNSUPPORTED;
    }
}

static enum virtio_found begin_request(const struct virtio_device *dev, struct blk_disk *disk,
                                       struct virtq *q)
{
    enum virtio_found found = virtq_first(dev, q, VIRTIO_QUEUE_SIZE, &disk->rest);

    if (found == VIRTIO_SOME) {
        found = virtio_chain_read(&disk->rest, &disk->request, sizeof(disk->request));
    }
    if (found == VIRTIO_SOME) {
        disk->busy = true;
        disk->status = judge(dev, disk);
        disk->at = disk->request.type <= BLK_WRITE ? disk->request.sector * BLK_SECTOR : 0;
        disk->written = 0;
        disk->forwards =
            disk->server != NULL && disk->status == BLK_OK && disk->request.type != BLK_GET_ID;
    }
    return found;
}

/* The part of the disk, or of its name, that the next `*n` bytes of a request are, fewer at the
 * end; NULL beyond it, and of a disk with a server. */
static char *data_at(struct blk_disk *disk, const struct virtio_device *dev, uint32_t *n)
{
    static char id[VIRTIO_MAX_FUNCTIONS][ID_SIZE];
    bool name = disk->request.type == BLK_GET_ID;
    uint64_t in_ram = disk->content != NULL ? disk->size : 0, size = name ? ID_SIZE : in_ram;

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

static bool is_useful(const struct blk_disk *disk)
{
    return disk->status == BLK_OK && disk->request.type != BLK_FLUSH &&
           disk->rest.writable == (disk->request.type != BLK_WRITE);
}

/* Copies the next bytes of data, at most `n`. Data beyond the disk is skipped. */
static void copy_data(const struct virtio_device *dev, struct blk_disk *disk, uint32_t n)
{
    struct virtio_chain *rest = &disk->rest;
    char *data = data_at(disk, dev, &n);

    if (data != NULL) {
        virtio_copy(rest->writable ? rest->at : data, rest->writable ? data : rest->at, n);
        disk->at += n;
        disk->written += rest->writable ? n : 0;
    } else if (disk->request.type != BLK_GET_ID) {
        disk->status = BLK_IOERR;
    }
    virtio_chain_advance(rest, n);
}

static void end_request(struct virtio_device *dev, struct blk_disk *disk, struct virtq *q)
{
    if (disk->request.type <= BLK_WRITE && disk->at % BLK_SECTOR != 0) {
        disk->status = BLK_IOERR;
    }
    *disk->rest.at = (char)disk->status;
    disk->busy = false;
    virtio_done(dev, q, disk->rest.head, disk->written + 1U);
}

/* One buffer of the request, or a piece of it if it is copied. The last byte that the device may
 * write is the status. */
static enum virtio_found data_step(struct virtio_device *dev, struct blk_disk *disk,
                                   struct virtq *q)
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
    } else if (is_useful(disk)) {
        copy_data(dev, disk, virtio_min(n, VIRTIO_PIECE));
    } else {
        virtio_chain_advance(rest, n);
    }
    return VIRTIO_SOME;
}

static struct virtio_step blk_step(struct virtio_device *dev, struct virtq *q)
{
    struct blk_disk *disk = dev->data;
    enum virtio_found found;

    if (blk_is_forwarded(disk)) {
        return blk_forward(dev, disk);
    }
    found = disk->busy ? data_step(dev, disk, q) : begin_request(dev, disk, q);
    return (struct virtio_step){.broken = found == VIRTIO_SOME ? NULL : virtio_wrong(dev)};
}

/* A piece that the server has stays there, and a buffer of the server is used for the next one. */
static void blk_reset(struct virtio_device *dev)
{
    struct blk_disk *disk = dev->data;

    spin_lock(&dev->queues[QUEUE_REQUESTS].lock);
    disk->busy = false;
    disk->forwards = false;
    disk->piece = disk->piece == BLK_SERVED ? BLK_SERVED : BLK_NO_PIECE;
    spin_unlock(&dev->queues[QUEUE_REQUESTS].lock);
}

VIRTIO_CLASS(blk) = {
    .type = VIRTIO_IMAGE_BLOCK,
    .queues = 1,
    .pci_class = CLASS_STORAGE,
    .features = FEATURE_SEG_MAX | BLK_FEATURE_FLUSH,
    .boot = blk_boot,
    .config = blk_config,
    .requests = 1U << QUEUE_REQUESTS,
    .step = blk_step,
    .reset = blk_reset,
};
