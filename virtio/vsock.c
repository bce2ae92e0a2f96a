/* SPDX-License-Identifier: Apache-2.0 */
/*
 * virtio-vsock (virtio 1.2, section 5.10) between VMs: stream sockets, addressed by the context ids of the system file. A packet waits
 * in the sender's queue until the receiver has buffers for it; none is lost. It reaches the receiver in pieces, as packets of their
 * own. A packet to a VM that has no such device, does not run, or is no peer is answered by a reset.
 */
#include "atomic.h"
#include "lib.h"
#include "virtio.h"

#define QUEUE_RECEIVE 0U
#define QUEUE_SEND 1U
#define QUEUE_EVENT 2U /* no event is ever sent: VMs do not migrate */
#define CLASS_OTHER 0xff0000U
#define CID_MIN 3U

#define TYPE_STREAM 1U
#define OP_RESET 3U
#define OP_DATA 5U

/* struct virtio_vsock_hdr */
struct header {
    uint64_t source, destination; /* context ids */
    uint32_t source_port, destination_port;
    uint32_t length;
    uint16_t type, op;
    uint32_t flags, buffer_size, forwarded;
};
#define HEADER_SIZE 44U
#define PIECE 256U     /* bytes of a step, which copies headers, too */
#define DESCRIPTORS 2U /* of a receive buffer that are used: of the header, of data */

struct endpoint {
    struct virtio_device *dev;
    /* Guarded by the lock of the send queue: */
    bool sending; /* a packet, which is still in the queue */
    bool answers; /* the packet has become the answer to its sender */
    struct header header;
    uint32_t left;            /* bytes of it that no receiver has */
    struct virtio_chain rest; /* of the packet */
    /* Receiver of the last packet, which resumes the sending when it has new buffers. Atomic: the receiver reads it. */
    struct endpoint *awaited;
};

static struct endpoint endpoints[VIRTIO_MAX_FUNCTIONS]; /* by number of the function; owner: this file */

/* What becomes of a piece. */
enum outcome {
    DELIVERED,
    NO_BUFFER,
    NO_RECEIVER,
    SENDER_WRONG,
    RECEIVER_WRONG,
};

static const char *vsock_boot(struct virtio_device *dev)
{
    struct endpoint *e = &endpoints[virtio_number(dev)];

    *e = (struct endpoint){.dev = dev};
    dev->data = e;
    return dev->config->cid >= CID_MIN ? NULL : "the image has a wrong context id of a vsock";
}

static uint32_t vsock_config(const struct virtio_device *dev, unsigned offset)
{
    return offset == 0 ? dev->config->cid : 0;
}

/* --- delivery --- */

static bool are_peers(const struct virtio_device *a, const struct virtio_device *b)
{
    return (a->config->peers >> b->vm->id & 1U) != 0 && (b->config->peers >> a->vm->id & 1U) != 0;
}

static bool is_for_sender(const struct endpoint *from)
{
    return from->answers || (from->header.type == TYPE_STREAM && from->header.destination == from->dev->config->cid);
}

/* The endpoint to which the packet goes, or NULL. */
static struct endpoint *receiver(struct endpoint *from)
{
    if (is_for_sender(from)) {
        return from;
    }
    for (unsigned i = 0; i < virtio_device_count; i++) {
        const struct virtio_device *dev = &virtio_devices[i];

        if (dev->class == &virtio_socket && dev->config->cid == from->header.destination &&
            from->header.type == TYPE_STREAM && are_peers(from->dev, dev)) {
            return dev->data;
        }
    }
    return NULL;
}

/* Writes the header to the next chain of the receiver, and leaves the rest in *chain: *n, the bytes of the packet that have space
 * there, at most `most`. */
static enum virtio_found put_header(struct endpoint *to, struct virtq *q, struct header *header,
                                    struct virtio_chain *chain)
{
    struct virtio_chain start;
    uint32_t most = header->length;
    enum virtio_found found = virtq_first(to->dev, q, DESCRIPTORS, chain);

    if (found == VIRTIO_SOME) {
        found = virtio_chain_span(chain);
        start = *chain;
    }
    if (found == VIRTIO_SOME) {
        found = virtio_chain_write(chain, header, HEADER_SIZE);
    }
    if (found == VIRTIO_SOME && most > 0) {
        found = virtio_chain_span(chain);
    }
    if (found == VIRTIO_SOME && most > chain->room) {
        header->length = chain->room; /* a buffer that is not writable is found when the data is written */
        found = virtio_chain_write(&start, header, HEADER_SIZE);
    }
    return found == VIRTIO_NONE ? VIRTIO_WRONG : found;
}

/* Copies a piece of the packet into the receiver's next chain. With the lock of its queue, which is not empty. */
static enum outcome fill(struct endpoint *to, struct endpoint *from, struct virtq *q)
{
    struct header header = from->header;
    struct virtio_chain chain;
    enum virtio_found found = from->left > 0 ? virtio_chain_span(&from->rest) : VIRTIO_SOME;

    if (found != VIRTIO_SOME || (from->left > 0 && from->rest.writable)) {
        return SENDER_WRONG; /* shorter than its header says */
    }
    header.length = from->left < from->rest.room ? from->left : from->rest.room;
    header.length = header.length < PIECE ? header.length : PIECE;
    if (put_header(to, q, &header, &chain) != VIRTIO_SOME ||
        virtio_chain_write(&chain, from->rest.at, header.length) != VIRTIO_SOME) {
        return RECEIVER_WRONG;
    }
    if (header.length > 0) {
        virtio_chain_advance(&from->rest, header.length);
        from->left -= header.length;
    }
    q->next++;
    virtq_return(q, chain.head, HEADER_SIZE + header.length);
    return DELIVERED;
}

/* Whether the queue has a buffer; otherwise its driver notifies the device of the next one. */
static bool has_buffer(struct endpoint *to, struct virtq *q)
{
    return virtq_waiting(q) != 0 || !virtq_await(to->dev, q);
}

static enum outcome deliver(struct endpoint *to, struct endpoint *from)
{
    struct virtq *q = &to->dev->queues[QUEUE_RECEIVE];
    enum outcome outcome = NO_RECEIVER;

    atomic_store_seq(&from->awaited, to); /* before its queue is found empty: see virtio_resume() */
    spin_lock(&q->lock);
    if (q->ready) {
        outcome = has_buffer(to, q) ? fill(to, from, q) : NO_BUFFER;
    }
    if (outcome == DELIVERED) {
        virtq_interrupt(to->dev, q);
    }
    if (outcome == RECEIVER_WRONG) {
        (void)virtio_wrong(to->dev);
    }
    spin_unlock(&q->lock);
    return outcome;
}

/* --- sending --- */

/* Makes the packet that is being sent the answer to itself. */
static void make_reset(struct endpoint *e)
{
    struct header *h = &e->header;

    *h = (struct header){.source = h->destination,
                         .destination = h->source,
                         .source_port = h->destination_port,
                         .destination_port = h->source_port,
                         .type = h->type,
                         .op = OP_RESET};
    e->left = 0;
    e->answers = true;
}

/* Answers a packet that has no receiver; a reset is not answered. False: the sender has no buffer for it now. */
static enum outcome refuse(struct endpoint *from)
{
    if (from->header.op == OP_RESET) {
        return DELIVERED;
    }
    make_reset(from);
    return deliver(from, from);
}

static enum virtio_found begin_packet(struct endpoint *e, struct virtq *q)
{
    enum virtio_found found = virtq_first(e->dev, q, VIRTIO_QUEUE_SIZE, &e->rest);

    if (found == VIRTIO_SOME) {
        found = virtio_chain_read(&e->rest, &e->header, HEADER_SIZE);
        found = e->header.source == e->dev->config->cid ? found : VIRTIO_WRONG;
    }
    if (found == VIRTIO_SOME) {
        e->left = e->header.op == OP_DATA ? e->header.length : 0;
        e->header.length = e->left;
        e->sending = true;
        e->answers = false;
    }
    return found;
}

/* Sends a piece of the current packet. */
static struct virtio_step send_piece(struct endpoint *e, struct virtq *q)
{
    struct endpoint *to = receiver(e);
    enum outcome outcome = to != NULL ? deliver(to, e) : NO_RECEIVER;

    if (outcome == NO_RECEIVER) {
        to = e; /* it gets the answer */
        outcome = refuse(e);
    }
    if (outcome == SENDER_WRONG || outcome == RECEIVER_WRONG) {
        return (struct virtio_step){.broken = outcome == SENDER_WRONG ? virtio_wrong(e->dev) : to->dev};
    }
    if (outcome != NO_BUFFER && e->left == 0) {
        e->sending = false;
        virtio_done(e->dev, q, e->rest.head, 0);
    }
    return (struct virtio_step){.wait = outcome == NO_BUFFER};
}

static struct virtio_step vsock_step(struct virtio_device *dev, struct virtq *q)
{
    struct endpoint *e = dev->data;

    if (!e->sending) {
        return (struct virtio_step){.broken = begin_packet(e, q) == VIRTIO_SOME ? NULL : virtio_wrong(dev)};
    }
    return send_piece(e, q);
}

/* Senders without packets are asked, too: after an interrupt, they are asked again. */
static struct virtq *vsock_waiting(struct virtio_device *dev, struct virtio_device *to, ulong number)
{
    const struct endpoint *e = dev->data;

    return number == QUEUE_RECEIVE && atomic_load_seq(&e->awaited) == to->data ? &dev->queues[QUEUE_SEND] : NULL;
}

static void vsock_reset(struct virtio_device *dev)
{
    struct endpoint *e = dev->data;

    spin_lock(&dev->queues[QUEUE_SEND].lock);
    e->sending = false;
    atomic_store_relaxed(&e->awaited, NULL);
    spin_unlock(&dev->queues[QUEUE_SEND].lock);
}

const struct virtio_class virtio_socket = {
    .type = VIRTIO_IMAGE_SOCKET,
    .queues = 3,
    .pci_class = CLASS_OTHER,
    .boot = vsock_boot,
    .config = vsock_config,
    .requests = 1U << QUEUE_SEND,
    .step = vsock_step,
    .senders = &virtio_socket,
    .waiting = vsock_waiting,
    .reset = vsock_reset,
};
