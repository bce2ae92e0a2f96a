/* SPDX-License-Identifier: Apache-2.0 */
/* The work on a queue of requests, in the store that has notified it. Takes the queue's lock for
 * each step, and repeats the store when an interrupt is pending. */
#include "lib.h"
#include "virtio.h"

/* a queue of 256 packets of 4 KiB, as Linux sends them, in steps of 256 bytes */
#define STEPS_FOR_OTHERS 4096U

/* A step, unless the queue is empty. False: no further step before the next notification. */
static bool work_step(struct virtio_device *dev, struct virtq *q)
{
    struct virtio_step step;

    spin_lock(&q->lock);
    if (!q->ready || (virtq_waiting(q) == 0 && virtq_enable_notify(dev, q))) {
        spin_unlock(&q->lock);
        return false;
    }
    step = dev->class->step(dev, q);
    if (step.wait) {
        virtq_request_notify(dev, q);
    }
    spin_unlock(&q->lock);
    virtio_raise_pending();
    if (step.broken != NULL) {
        virtio_break(step.broken);
    }
    return !step.wait;
}

/* Works on the queue's requests, at most `left` steps. Returns 0, or the steps left when an
 * interrupt is pending for this CPU. */
static uint32_t work(struct virtio_device *dev, struct virtq *q, uint32_t left)
{
    while (left > 0 && work_step(dev, q)) {
        left--;
        if (arch_irq_pending()) {
            return left;
        }
    }
    return 0;
}

/* The queue of `dev` whose requests wait for `to`, or NULL. A queue on which steps are done stays
 * the one until it is worked off: its next requests may wait for another device or for none, and no
 * other notification would continue it. */
static struct virtq *queue_of(struct virtio_device *dev, struct virtio_device *to, ulong number,
                              const struct virtio_progress *at)
{
    unsigned begun = at->queue;

    if (at->steps != 0 && (dev->requests >> begun & 1U) != 0) {
        return &dev->queues[begun];
    }
    return to->class->waiting(dev, to, number);
}

/* To find that a device does not wait, or must still wait, takes time, too: interrupts are polled
 * after each. */
static bool resume_waiters(struct virtio_device *to, ulong number, struct virtio_progress *at)
{
    bool done = true;

    for (unsigned i = at->device; i < virtio_device_count && done; i++) {
        struct virtio_device *dev = &virtio_devices[i];

        if (dev->config->kind == to->class->senders) {
            struct virtq *q = queue_of(dev, to, number, at);
            uint32_t left = q != NULL ? work(dev, q, STEPS_FOR_OTHERS - at->steps) : 0;

            at->steps = (uint16_t)(left != 0 ? STEPS_FOR_OTHERS - left : 0);
            at->device = (uint8_t)(left != 0 ? i : i + 1U);
            at->queue = (uint8_t)(left != 0 ? q - dev->queues : 0);
            done = left == 0 && !arch_irq_pending();
        }
    }
    if (done) {
        *at = (struct virtio_progress){0};
    }
    return done;
}

bool virtio_resume(struct virtio_device *to, ulong number)
{
    if (to->class->serve != NULL && to->class->serve(to)) {
        return false;
    }
    return resume_waiters(to, number, &to->queues[number].progress);
}

bool virtio_resume_all(struct virtio_device *to)
{
    if (to->class->waiting == NULL) {
        return to->class->stop == NULL || to->class->stop(to);
    }
    if (resume_waiters(to, to->resuming, &to->progress)) {
        to->resuming++;
    }
    if (to->resuming < to->nqueues) {
        return false;
    }
    to->resuming = 0;
    return true;
}

void virtio_notify(struct virtio_device *dev, ulong number)
{
    bool done = true;

    if (number >= dev->nqueues) {
        return;
    }
    if ((dev->requests >> number & 1U) != 0) {
        done = work(dev, &dev->queues[number], UINT32_MAX) == 0;
    } else {
        done = virtio_resume(dev, number);
    }
    if (!done) {
        arch_store_again();
    }
}

void virtio_done(struct virtio_device *dev, struct virtq *q, uint32_t head, uint32_t length)
{
    q->next++;
    virtq_return(q, head, length);
    virtq_interrupt(dev, q);
}
