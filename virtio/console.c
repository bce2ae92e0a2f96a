/* SPDX-License-Identifier: Apache-2.0 */
/*
 * virtio-console (virtio 1.2, section 5.3), one port: an end of a line between two VMs. Bytes wait in the sender's queue until the other
 * end has buffers. As on a serial line without a receiver, they are lost while the other end has no driver.
 */
#include "virtio.h"

#define QUEUE_RECEIVE 0U
#define QUEUE_SEND 1U
#define CLASS_COMMUNICATION 0x078000U

struct end {
    bool sending; /* a chain, which is still in the queue; guarded by the lock of the send queue */
    struct virtio_chain rest;
};

static struct end ends[VIRTIO_MAX_FUNCTIONS]; /* by number of the function; owner: this file */

static const char *console_boot(struct virtio_device *dev)
{
    ends[virtio_number(dev)] = (struct end){.sending = false};
    dev->data = &ends[virtio_number(dev)];
    return dev->config->other < virtio_device_count ? NULL : "the image has a console without another end";
}

/* The other end; NULL if it is none, as only a damaged image has it. */
static struct virtio_device *other_end(const struct virtio_device *dev)
{
    struct virtio_device *other = &virtio_devices[dev->config->other];

    return other->class == &virtio_console && other != dev && other->config->other == virtio_number(dev) ? other : NULL;
}

/* Copies bytes of the sender's buffer into the receiver's next chain. With the locks of both queues. */
static enum virtio_found fill(struct virtio_device *to, struct virtq *q, struct virtio_chain *from)
{
    struct virtio_chain chain;
    enum virtio_found found = virtq_first(to, q, VIRTIO_QUEUE_SIZE, &chain);
    uint32_t n;

    if (found == VIRTIO_SOME) {
        found = virtio_chain_span(&chain);
    }
    if (found != VIRTIO_SOME || !chain.writable) {
        return VIRTIO_WRONG;
    }
    n = from->room < chain.room ? from->room : chain.room;
    n = n < VIRTIO_PIECE ? n : VIRTIO_PIECE;
    virtio_copy(chain.at, from->at, n);
    virtio_chain_advance(from, n);
    q->next++;
    virtq_return(q, chain.head, n);
    return VIRTIO_SOME;
}

/* Sends a piece of the current buffer, which is not empty. */
static struct virtio_step deliver(struct virtio_device *to, struct virtio_chain *from)
{
    struct virtq *q = &to->queues[QUEUE_RECEIVE];
    struct virtio_step step = {.wait = false};
    bool interrupt = false;

    spin_lock(&q->lock);
    if (!q->ready) {
        virtio_chain_advance(from, from->room);
    } else if (virtq_waiting(q) == 0 && virtq_await(to, q)) {
        step.wait = true;
    } else {
        step.broken = fill(to, q, from) == VIRTIO_SOME ? NULL : to;
        interrupt = step.broken == NULL && virtq_wants_interrupt(to, q);
    }
    spin_unlock(&q->lock);
    if (interrupt) {
        virtio_interrupt(to, VIRTIO_ISR_QUEUE);
    }
    return step;
}

static struct virtio_step console_step(struct virtio_device *dev, struct virtq *q)
{
    struct virtio_device *other = other_end(dev);
    struct end *end = dev->data;
    enum virtio_found found = VIRTIO_SOME;

    if (!end->sending) {
        found = virtq_first(dev, q, VIRTIO_QUEUE_SIZE, &end->rest);
        end->sending = true;
    }
    if (found == VIRTIO_SOME) {
        found = virtio_chain_span(&end->rest);
    }
    if (found == VIRTIO_WRONG || (found == VIRTIO_SOME && end->rest.writable)) {
        return (struct virtio_step){.broken = dev};
    }
    if (found == VIRTIO_SOME && other != NULL) {
        return deliver(other, &end->rest);
    }
    end->sending = false;
    virtio_done(dev, q, end->rest.head, 0);
    return (struct virtio_step){.wait = false};
}

/* New buffers: the other end continues. */
static void console_notify(struct virtio_device *dev, unsigned number)
{
    struct virtio_device *other = other_end(dev);

    if (number == QUEUE_RECEIVE && other != NULL) {
        (void)virtio_work(other);
    }
}

static void console_reset(struct virtio_device *dev)
{
    struct end *end = dev->data;

    spin_lock(&dev->queues[QUEUE_SEND].lock);
    end->sending = false;
    spin_unlock(&dev->queues[QUEUE_SEND].lock);
}

const struct virtio_class virtio_console = {
    .type = VIRTIO_IMAGE_CONSOLE,
    .queues = 2,
    .pci_class = CLASS_COMMUNICATION,
    .requests = QUEUE_SEND,
    .boot = console_boot,
    .step = console_step,
    .notify = console_notify,
    .reset = console_reset,
};
