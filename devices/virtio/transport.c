/* SPDX-License-Identifier: Apache-2.0 */
/* The common configuration of a virtio device on PCI (virtio 1.2, section 4.1.4.3): status,
 * features, queues. */
#include "atomic.h"
#include "lib.h"
#include "pci_regs.h"
#include "virtio.h"

/* Offsets of the registers. */
enum {
    DEVICE_FEATURE_SELECT = 0,
    DEVICE_FEATURE = 4,
    DRIVER_FEATURE_SELECT = 8,
    DRIVER_FEATURE = 12,
    CONFIG_MSIX_VECTOR = 16, /* and num_queues */
    DEVICE_STATUS = 20,      /* and config_generation, queue_select */
    QUEUE_SELECT = 22,
    QUEUE_SIZE = 24, /* and queue_msix_vector */
    QUEUE_ENABLE = 28,
    QUEUE_ADDRESSES = 32, /* three of 64 bits */
    QUEUE_ADDRESSES_END = 56,
};
#define NO_VECTOR 0xffffU

/* The selected queue's number. Read once: another VCPU may write it between a comparison and its
 * use. */
static uint32_t selection(const struct virtio_device *dev)
{
    return atomic_load_relaxed(&dev->queue_select);
}

/* The selected queue, or NULL. */
static const struct virtq *selected(const struct virtio_device *dev)
{
    uint32_t number = selection(dev);

    return number < dev->nqueues ? &dev->queues[number] : NULL;
}

static uint32_t half(uint64_t value, unsigned upper)
{
    return (uint32_t)(upper != 0 ? value >> 32 : value);
}

static uint32_t queue_read(const struct virtq *q, unsigned offset)
{
    if (q == NULL) {
        return 0;
    }
    if (offset == QUEUE_SIZE) {
        return q->size | NO_VECTOR << 16;
    }
    if (offset == QUEUE_ENABLE) {
        return q->enabled ? 1U : 0; /* queue_notify_off is 0 */
    }
    offset -= QUEUE_ADDRESSES;
    return offset < QUEUE_ADDRESSES_END - QUEUE_ADDRESSES
               ? half(q->address[offset / 8U], offset & 4U)
               : 0;
}

uint32_t virtio_common_read(const struct virtio_device *dev, unsigned offset)
{
    switch (offset) {
    case DEVICE_FEATURE_SELECT:
        return dev->device_feature_select;
    case DEVICE_FEATURE:
        return dev->device_feature_select < 2U ? half(dev->offered, dev->device_feature_select) : 0;
    case DRIVER_FEATURE_SELECT:
        return dev->driver_feature_select;
    case DRIVER_FEATURE:
        return dev->driver_feature_select < 2U ? half(dev->features, dev->driver_feature_select)
                                               : 0;
    case CONFIG_MSIX_VECTOR:
        return NO_VECTOR | (uint32_t)dev->nqueues << 16;
    case DEVICE_STATUS:
        return atomic_load_relaxed(&dev->status) | dev->queue_select << 16;
    default:
        return queue_read(selected(dev), offset);
    }
}

/* --- queues --- */

/* A function that is no bus master does not access memory (PCI Local Bus Specification 3.0,
 * section 6.2.2). */
static bool may_work(const struct virtio_device *dev)
{
    return (dev->command & COMMAND_MASTER) != 0 && virtio_is_live(dev);
}

enum start {
    START_NONE, /* the queue is not enabled, the driver is not ready, or it has been started */
    START_DONE,
    START_WRONG, /* the rings are */
};

/* The device may use an enabled queue once the driver is ready. */
static enum start start_queue(struct virtio_device *dev, struct virtq *q)
{
    enum start start = START_NONE;

    spin_lock(&q->lock);
    if (q->enabled && !q->ready && may_work(dev)) {
        q->ready = virtq_map(dev->vm, q);
        start = q->ready ? START_DONE : START_WRONG;
        if (start == START_WRONG) {
            (void)virtio_wrong(dev);
        }
    }
    spin_unlock(&q->lock);
    return start;
}

static void start_queues(struct virtio_device *dev)
{
    enum start start = START_NONE;

    for (unsigned i = 0; i < dev->nqueues && start != START_WRONG; i++) {
        start = start_queue(dev, &dev->queues[i]);
        if (start == START_DONE && arch_irq_pending()) {
            arch_store_again();
            return;
        }
    }
    if (start == START_WRONG) {
        virtio_break(dev);
    }
}

static void write_half(uint64_t *value, unsigned upper, uint32_t part)
{
    *value = upper != 0 ? (*value & UINT32_MAX) | (uint64_t)part << 32
                        : (*value & ~(uint64_t)UINT32_MAX) | part;
}

static bool size_fits(const struct virtio_device *dev, uint32_t size)
{
    return size != 0 && size <= dev->queue_size && (size & (size - 1U)) == 0;
}

/* A queue that is enabled keeps its registers: only a reset of the device disables it. */
static void queue_write(struct virtio_device *dev, unsigned offset, uint32_t value)
{
    uint32_t number = selection(dev);
    struct virtq *q = number < dev->nqueues ? &dev->queues[number] : NULL;

    if (q == NULL || q->enabled) {
        return;
    }
    if (offset == QUEUE_SIZE) {
        q->size = size_fits(dev, value & 0xffffU) ? (uint16_t)value : q->size;
    } else if (offset == QUEUE_ENABLE) {
        q->enabled = (value & 0xffffU) == 1U;
        start_queues(dev);
    } else if (offset >= QUEUE_ADDRESSES && offset < QUEUE_ADDRESSES_END && offset % 4U == 0) {
        offset -= QUEUE_ADDRESSES;
        write_half(&q->address[offset / 8U], offset & 4U, value);
    }
}

/* --- the device --- */

bool virtio_reset_step(struct virtio_device *dev)
{
    if (!dev->resumes) {
        virtio_reset(dev);
        if (arch_irq_pending()) {
            return false;
        }
    }
    if (!virtio_resume_all(dev)) {
        return false;
    }
    dev->resumes = false;
    return true;
}

void virtio_command_written(struct virtio_device *dev)
{
    if (virtio_stop_without_master(dev)) {
        virtio_break(dev);
    } else {
        start_queues(dev);
    }
}

/* FEATURES_OK stays 0 if the driver has accepted what was not offered, or not what is required. */
static uint32_t accept_features(const struct virtio_device *dev, uint32_t status)
{
    bool fit = (dev->features & ~dev->offered) == 0 && (dev->required & ~dev->features) == 0;

    return fit ? status : status & ~VIRTIO_STATUS_FEATURES_OK;
}

/* Bits are only added, by a driver; the device keeps its own. The lock: the features are final with
 * FEATURES_OK. Returns the status. */
static uint32_t status_add(struct virtio_device *dev, uint32_t value)
{
    uint32_t before, added;

    spin_lock(&dev->vm->lock);
    before = atomic_load_relaxed(&dev->status);
    added = value & ~VIRTIO_STATUS_NEEDS_RESET & ~before;
    if ((added & VIRTIO_STATUS_FEATURES_OK) != 0) {
        added = accept_features(dev, added);
    }
    if (((before | added) & VIRTIO_STATUS_FEATURES_OK) == 0) {
        added &= ~VIRTIO_STATUS_DRIVER_OK;
    }
    if (before == 0) { /* a new life: what a reset has left undone is no longer due */
        dev->resumes = false;
        dev->resuming = 0;
        dev->progress = (struct virtio_progress){0};
    }
    (void)atomic_or_relaxed(&dev->status, added);
    vm_unlock(dev->vm);
    return before | added;
}

static void status_write(struct virtio_device *dev, uint32_t value)
{
    if (value == 0) {
        if (!virtio_reset_step(dev)) {
            arch_store_again();
        }
    } else if ((status_add(dev, value) & value & VIRTIO_STATUS_DRIVER_OK) != 0) {
        start_queues(dev);
    }
}

static void driver_feature_write(struct virtio_device *dev, uint32_t value)
{
    spin_lock(&dev->vm->lock);
    if (dev->driver_feature_select < 2U &&
        (atomic_load_relaxed(&dev->status) & VIRTIO_STATUS_FEATURES_OK) == 0) {
        write_half(&dev->features, dev->driver_feature_select, value);
    }
    vm_unlock(dev->vm);
}

void virtio_common_write(struct virtio_device *dev, unsigned offset, unsigned width_log2,
                         uint32_t value)
{
    (void)width_log2; /* the specification demands the register's own width */
    switch (offset) {
    case DEVICE_FEATURE_SELECT:
        dev->device_feature_select = value;
        break;
    case DRIVER_FEATURE_SELECT:
        dev->driver_feature_select = value;
        break;
    case DRIVER_FEATURE:
        driver_feature_write(dev, value);
        break;
    case DEVICE_STATUS:
        status_write(dev, value & 0xffU);
        break;
    case QUEUE_SELECT:
        dev->queue_select = value & 0xffffU;
        break;
    default:
        queue_write(dev, offset, value);
        break;
    }
}
