/* SPDX-License-Identifier: Apache-2.0 */
/*
 * virtio-vsock (virtio 1.2, section 5.10) between VMs: stream sockets, addressed by the context ids
 * of the system file. A packet waits in the sender's queue until the receiver has buffers for it;
 * none is lost. It reaches the receiver in pieces, as packets of their own. A packet to a VM that
 * has no such device, does not run, or is no peer is answered by a reset. When a VM stops, or its
 * driver resets the device, each of its peers gets a reset of each stream between them. The event
 * VIRTIO_VSOCK_EVENT_TRANSPORT_RESET would end the peer's streams with other VMs, too.
 */
#include "vsock.h"
#include "atomic.h"
#include "lib.h"
#include "virtio.h"

#define QUEUE_RECEIVE 0U
#define QUEUE_SEND 1U
#define QUEUE_EVENT 2U /* no event is ever sent: VMs do not migrate */
#define CLASS_OTHER 0xff0000U
#define CID_MIN 3U

#define TYPE_STREAM 1U
#define OP_REQUEST 1U
#define OP_RESET 3U
#define OP_DATA 5U

/* struct virtio_vsock_hdr (section 5.10.6), little-endian; sizes are in bytes */
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
    unsigned socket; /* number of the socket; constant */
    /* bit n: socket n has gone, and may have left streams whose reset the driver has to get;
     * atomic */
    uint32_t owed;
    /* Guarded by the lock of the send queue: */
    bool sending; /* a packet, which is still in the queue */
    bool answers; /* the packet has become the answer to its sender */
    bool wrong;   /* the next packet is: the next step breaks the device */
    struct header header;
    uint32_t left;            /* bytes of it that no receiver has */
    struct virtio_chain rest; /* of the packet */
    /* Receiver of the last packet, which resumes the sending when it has new buffers. Atomic: the
     * receiver reads it. */
    struct endpoint *awaited;
};

static struct endpoint endpoints[STREAMS_SOCKETS]; /* by number of the socket; owner: this file */

/* What becomes of a piece. */
enum outcome {
    DELIVERED,
    RESET_FIRST, /* the receiver has got a reset that it was owed instead */
    NO_BUFFER,
    NO_RECEIVER,
    SENDER_WRONG,
    RECEIVER_WRONG,
};

static const char *vsock_boot(struct virtio_device *dev)
{
    unsigned socket = virtio_count_before(dev);

    if (socket >= STREAMS_SOCKETS || dev->config->cid < CID_MIN) {
        return "the image has a wrong context id of a vsock, or too many";
    }
    endpoints[socket] = (struct endpoint){.dev = dev, .socket = socket};
    dev->data = &endpoints[socket];
    streams_boot(socket);
    return NULL;
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
    return from->answers ||
           (from->header.type == TYPE_STREAM && from->header.destination == from->dev->config->cid);
}

/* The endpoint to which the packet goes, or NULL. */
static struct endpoint *receiver(struct endpoint *from)
{
    if (is_for_sender(from)) {
        return from;
    }
    for (unsigned i = 0; i < virtio_device_count; i++) {
        const struct virtio_device *dev = &virtio_devices[i];

        if (dev->class == from->dev->class && dev->config->cid == from->header.destination &&
            from->header.type == TYPE_STREAM && are_peers(from->dev, dev)) {
            return dev->data;
        }
    }
    return NULL;
}

/* Writes the header to the next chain of the receiver, and leaves the rest in *chain: *n, the bytes
 * of the packet that have space there, at most `most`. */
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
        /* a buffer that is not writable is found when the data is written */
        header->length = chain->room;
        found = virtio_chain_write(&start, header, HEADER_SIZE);
    }
    return found == VIRTIO_NONE ? VIRTIO_WRONG : found;
}

/* Copies a piece of the packet into the receiver's next chain. With the lock of its queue, which is
 * not empty. */
static enum outcome fill(struct endpoint *to, struct endpoint *from, struct virtq *q)
{
    struct header header = from->header;
    struct virtio_chain chain;
    enum virtio_found found = from->left > 0 ? virtio_chain_span(&from->rest) : VIRTIO_SOME;

    if (found != VIRTIO_SOME || (from->left > 0 && from->rest.writable)) {
        return SENDER_WRONG; /* shorter than its header says */
    }
    header.length = virtio_min(virtio_min(from->left, from->rest.room), PIECE);
    if (put_header(to, q, &header, &chain) != VIRTIO_SOME ||
        virtio_chain_write(&chain, from->rest.at, header.length) != VIRTIO_SOME) {
        return RECEIVER_WRONG;
    }
    virtio_chain_advance(&from->rest, header.length);
    from->left -= header.length;
    q->next++;
    virtq_return(q, chain.head, HEADER_SIZE + header.length);
    return DELIVERED;
}

/* --- streams whose other end has gone --- */

/* Ends the streams with the peer that an earlier life of the endpoint has left. */
static void end_streams(const struct endpoint *e, unsigned peer)
{
    if (streams_end(e->socket, peer)) {
        (void)atomic_or_relaxed(&endpoints[peer].owed, 1U << e->socket);
        virtio_serve_later(endpoints[peer].dev);
    }
}

/* The header of the next reset that is owed to the endpoint. False: there is none. */
static bool take_reset(struct endpoint *e, struct header *h)
{
    struct stream s = {.socket = e->socket};

    for (; s.peer < STREAMS_SOCKETS; s.peer++) {
        uint32_t bit = 1U << s.peer;

        if ((atomic_load_relaxed(&e->owed) & bit) == 0) {
            continue;
        }
        /* before the check: another CPU may set it from then on */
        (void)atomic_and_relaxed(&e->owed, ~bit);
        atomic_fence_acquire();
        end_streams(e, s.peer);
        if (streams_take_reset(&s)) {
            (void)atomic_or_relaxed(&e->owed, bit);
            *h = (struct header){.source = endpoints[s.peer].dev->config->cid,
                                 .destination = e->dev->config->cid,
                                 .source_port = s.peer_port,
                                 .destination_port = s.port,
                                 .type = TYPE_STREAM,
                                 .op = OP_RESET};
            return true;
        }
    }
    return false;
}

/* Gives the driver a reset. With the lock of its queue, which is not empty. */
static enum outcome give_reset(struct endpoint *to, struct virtq *q, struct header *h)
{
    struct virtio_chain chain;

    if (put_header(to, q, h, &chain) != VIRTIO_SOME) {
        return RECEIVER_WRONG;
    }
    q->next++;
    virtq_return(q, chain.head, HEADER_SIZE);
    return RESET_FIRST;
}

/* --- delivery of packets --- */

static struct stream stream_of(const struct endpoint *from, const struct endpoint *to)
{
    return (struct stream){.socket = from->socket,
                           .peer = to->socket,
                           .port = from->header.source_port,
                           .peer_port = from->header.destination_port};
}

static bool opens_stream(const struct endpoint *from, const struct endpoint *to)
{
    return from != to && from->header.op == OP_REQUEST;
}

/* fill(), which notes the beginning and the end of a stream between two VMs. */
static enum outcome fill_and_note(struct endpoint *to, struct endpoint *from, struct virtq *q)
{
    struct stream s = stream_of(from, to);
    bool opens = opens_stream(from, to), closes = from != to && from->header.op == OP_RESET;
    enum outcome outcome;

    if (opens && !streams_open(&s)) {
        return NO_RECEIVER;
    }
    outcome = fill(to, from, q);
    if ((opens && outcome != DELIVERED) || (closes && outcome == DELIVERED)) {
        streams_close(&s);
    }
    return outcome;
}

/* Whether the queue has a buffer; otherwise its driver notifies the device of the next one. */
static bool has_buffer(struct endpoint *to, struct virtq *q)
{
    return virtq_waiting(q) != 0 || !virtq_enable_notify(to->dev, q);
}

/* Fills the next buffer with a reset that is owed, or with a piece of a packet; `from` may be NULL.
 * The first packet of a new life opens a stream: the streams of the earlier life end before it. */
static enum outcome fill_next(struct endpoint *to, struct endpoint *from, struct virtq *q)
{
    struct header h;

    if (!has_buffer(to, q)) {
        return NO_BUFFER;
    }
    if (from != NULL && opens_stream(from, to)) {
        end_streams(from, to->socket);
        end_streams(to, from->socket);
    }
    if (atomic_load_relaxed(&to->owed) != 0 && take_reset(to, &h)) {
        return give_reset(to, q, &h);
    }
    return from != NULL ? fill_and_note(to, from, q) : NO_BUFFER;
}

static enum outcome deliver(struct endpoint *to, struct endpoint *from)
{
    struct virtq *q = &to->dev->queues[QUEUE_RECEIVE];
    enum outcome outcome = NO_RECEIVER;

    if (from != NULL) {
        /* before its queue is found empty: see virtio_resume() */
        atomic_store_seq(&from->awaited, to);
    }
    spin_lock(&q->lock);
    if (q->ready) {
        outcome = fill_next(to, from, q);
    }
    if (outcome == DELIVERED || outcome == RESET_FIRST) {
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

/* Answers a packet that has no receiver; a reset is not answered. False: the sender has no buffer
 * for it now. */
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
        return (struct virtio_step){.broken =
                                        outcome == SENDER_WRONG ? virtio_wrong(e->dev) : to->dev};
    }
    if (outcome != NO_BUFFER && outcome != RESET_FIRST && e->left == 0) {
        e->sending = false;
        virtio_done(e->dev, q, e->rest.head, 0);
    }
    return (struct virtio_step){.wait = outcome == NO_BUFFER};
}

/* To break the device has a step of its own: with a header in many buffers, the step would be
 * longer than 1,500 instructions. */
static struct virtio_step vsock_step(struct virtio_device *dev, struct virtq *q)
{
    struct endpoint *e = dev->data;

    if (e->wrong) {
        return (struct virtio_step){.broken = virtio_wrong(dev)};
    }
    if (!e->sending) {
        e->wrong = begin_packet(e, q) != VIRTIO_SOME;
        return (struct virtio_step){.wait = false};
    }
    return send_piece(e, q);
}

/* Senders without packets are asked, too: after an interrupt, they are asked again. */
static struct virtq *vsock_waiting(struct virtio_device *dev, struct virtio_device *to,
                                   ulong number)
{
    const struct endpoint *e = dev->data;

    return number == QUEUE_RECEIVE && atomic_load_seq(&e->awaited) == to->data
               ? &dev->queues[QUEUE_SEND]
               : NULL;
}

static void vsock_reset(struct virtio_device *dev)
{
    struct endpoint *e = dev->data;

    spin_lock(&dev->queues[QUEUE_SEND].lock);
    e->sending = false;
    e->wrong = false;
    atomic_store_relaxed(&e->awaited, NULL);
    spin_unlock(&dev->queues[QUEUE_SEND].lock);
    streams_gone(e->socket);
    virtio_serve_later(dev);
}

/* Ends the streams of an earlier life, those with one peer at a time; then gives the driver the
 * next reset that it is owed. True also if none was left to give: to find that takes time. */
static bool vsock_serve(struct virtio_device *dev)
{
    struct endpoint *e = dev->data;
    uint32_t ending = streams_to_end(e->socket);
    enum outcome outcome;
    unsigned peer = 0;

    if (ending != 0) {
        while ((ending >> peer & 1U) == 0) {
            peer++;
        }
        end_streams(e, peer);
        return true;
    }
    if (atomic_load_relaxed(&e->owed) == 0) {
        return false;
    }
    outcome = deliver(e, NULL);
    virtio_raise_pending();
    switch (outcome) {
    case RECEIVER_WRONG:
        virtio_break(dev);
        return true;
    case RESET_FIRST:
        return true;
    default:
        return atomic_load_relaxed(&e->owed) == 0;
    }
}

VIRTIO_CLASS(vsock) = {
    .type = VIRTIO_IMAGE_SOCKET,
    .queues = 3,
    .pci_class = CLASS_OTHER,
    .boot = vsock_boot,
    .config = vsock_config,
    .requests = 1U << QUEUE_SEND,
    .step = vsock_step,
    .senders = VIRTIO_IMAGE_SOCKET,
    .waiting = vsock_waiting,
    .reset = vsock_reset,
    .serve = vsock_serve,
};
