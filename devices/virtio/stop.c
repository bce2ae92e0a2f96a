/* SPDX-License-Identifier: Apache-2.0 */
/* Stops of a device: resets by its driver or by the stop of its VM, and those after which it needs
 * one. No queue is accessed until the driver has started the device again. */
#include "arch.h"
#include "pci_regs.h"
#include "virtio.h"

static void stop_queues(struct virtio_device *dev)
{
    for (unsigned i = 0; i < dev->nqueues; i++) {
        spin_lock(&dev->queues[i].lock);
        dev->queues[i].ready = false;
        dev->queues[i].generation++;
        spin_unlock(&dev->queues[i].lock);
    }
    if (dev->class->reset != NULL) {
        dev->class->reset(dev);
        virtio_raise_pending(); /* of peers whose chains it has returned */
    }
}

/* Several VCPUs may stop the device at once: those of its driver that reset it, and those of others
 * that have found its driver to be wrong. No queue starts until the last one has done so. */
static void begin_stop(struct virtio_device *dev)
{
    (void)atomic_or_relaxed(&dev->stops, 1U << cpu_self()->id);
    (void)atomic_or_relaxed(&dev->status, VIRTIO_STATUS_NEEDS_RESET);
}

static void end_stop(struct virtio_device *dev, bool reset)
{
    uint32_t own = 1U << cpu_self()->id;

    spin_lock(&dev->vm->lock);
    dev->was_reset = dev->was_reset || reset;
    if (atomic_and_relaxed(&dev->stops, ~own) == own && dev->was_reset) {
        dev->was_reset = false;
        /* the last one may have raised an interrupt after the reset's begin */
        virtio_clear_isr(dev);
        atomic_store_relaxed(&dev->status, 0);
    }
    vm_unlock(dev->vm);
}

void virtio_reset(struct virtio_device *dev)
{
    spin_lock(&dev->vm->lock); /* or end_stop() could overlook it */
    begin_stop(dev);
    spin_unlock(&dev->vm->lock);
    stop_queues(dev);
    for (unsigned i = 0; i < dev->nqueues; i++) {
        struct virtq *q = &dev->queues[i];

        q->enabled = false;
        q->size = dev->queue_size;
        q->next = 0;
        q->used = 0;
        q->checked = 0;
        q->address[0] = 0;
        q->address[1] = 0;
        q->address[2] = 0;
        q->progress = (struct virtio_progress){0};
    }
    dev->features = 0;
    dev->device_feature_select = 0;
    dev->driver_feature_select = 0;
    dev->queue_select = 0;
    dev->resumes = true; /* before the status is 0: a new life clears it */
    end_stop(dev, true);
}

/* Without vm->lock, which would be waited for under the queue's. A reset waits for the queue's lock
 * before it ends, so end_stop() counts this one, and the status is 0 only after virtio_break(). */
struct virtio_device *virtio_wrong(struct virtio_device *dev)
{
    begin_stop(dev);
    return dev;
}

void virtio_break(struct virtio_device *dev)
{
    stop_queues(dev);
    virtio_interrupt(dev, VIRTIO_ISR_CONFIG);
    end_stop(dev, false);
}

/* Begins to stop a device that works but is no bus master any more. One section: a reset by another
 * VCPU must not come between. */
bool virtio_stop_without_master(struct virtio_device *dev)
{
    bool stops;

    spin_lock(&dev->vm->lock);
    stops = (dev->command & COMMAND_MASTER) == 0 && virtio_is_live(dev);
    if (stops) {
        begin_stop(dev);
    }
    spin_unlock(&dev->vm->lock);
    return stops;
}
