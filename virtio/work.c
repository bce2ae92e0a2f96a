/* SPDX-License-Identifier: Apache-2.0 */
/* The work on a queue of requests, in the store that has notified it. */
#include "virtio.h"

/* A step, unless the queue is empty. */
static struct virtio_step work_step(struct virtio_device *dev, struct virtq *q)
{
    struct virtio_step step = {.wait = true};

    spin_lock(&q->lock);
    if (q->ready && (virtq_waiting(q) != 0 || !virtq_await(dev, q))) {
        step = dev->class->step(dev, q);
    }
    spin_unlock(&q->lock);
    return step;
}

bool virtio_work_on(struct virtio_device *dev, struct virtq *q)
{
    struct virtio_step step;

    for (;;) {
        step = work_step(dev, q);
        if (step.wait) {
            return true;
        }
        if (step.broken != NULL) {
            virtio_break(step.broken);
        }
        if (arch_irq_pending()) {
            arch_store_again();
            return false;
        }
    }
}

void virtio_notify(struct virtio_device *dev, unsigned number)
{
    if (number == dev->class->requests) {
        (void)virtio_work(dev);
    } else if (number < dev->nqueues && dev->class->notify != NULL) {
        dev->class->notify(dev, number);
    }
}

void virtio_done(struct virtio_device *dev, struct virtq *q, uint32_t head, uint32_t length)
{
    q->next++;
    virtq_return(q, head, length);
    if (virtq_wants_interrupt(dev, q)) {
        virtio_interrupt(dev, VIRTIO_ISR_QUEUE);
    }
}
