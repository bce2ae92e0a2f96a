/* SPDX-License-Identifier: Apache-2.0 */
/*
 * virtio-net (virtio 1.2, section 5.1) and the switch between the ports of a network. A port's
 * address is the system file's: a frame from another source address is dropped, so there is nothing
 * to learn. Behind an uplink are all other addresses. Frames reach ports of the same VLAN only. A
 * frame for which the receiver has no buffer is dropped, as by a real switch.
 *
 * On a network with offloads, a frame may be a TCP segment of up to 64 KiB, and without its
 * checksum. Each driver there has accepted such frames, so the switch passes them on as they are,
 * with what their sender says about them.
 */
#include "arch.h"
#include "lib.h"
#include "virtio.h"

#define QUEUE_RECEIVE 0U
#define QUEUE_SEND 1U
#define CLASS_ETHERNET 0x020000U
/* Bytes of a frame in a step: if both addresses have the same distance from a multiple of 8, and
 * otherwise, where these take up to 1,040 instructions. */
#define ALIKE_PIECE 2048U
#define UNLIKE_PIECE 1024U

/* Feature bits (section 5.1.3). */
/* frames from the driver: without checksum, or to be cut into segments */
#define FEATURE_CSUM (UINT64_C(1) << 0)
#define FEATURE_HOST_TSO4 (UINT64_C(1) << 11)
#define FEATURE_HOST_TSO6 (UINT64_C(1) << 12)
#define FEATURE_GUEST_CSUM (UINT64_C(1) << 1) /* the same, to the driver */
#define FEATURE_GUEST_TSO4 (UINT64_C(1) << 7)
#define FEATURE_GUEST_TSO6 (UINT64_C(1) << 8)
#define FEATURE_MAC (UINT64_C(1) << 5)
#define FEATURE_MRG_RXBUF (UINT64_C(1) << 15) /* a frame to the driver may be in several chains */
#define FEATURES_TO_DRIVER (FEATURE_GUEST_CSUM | FEATURE_GUEST_TSO4 | FEATURE_GUEST_TSO6)

/* In the header (section 5.1.6). */
#define NEEDS_CSUM 1U
#define GSO_NONE 0U
#define GSO_TCPV4 1U
#define GSO_TCPV6 4U
#define CSUM_SIZE 2U

#define FRAME_MAX 1518U    /* with a VLAN tag */
#define SEGMENT_MAX 65550U /* section 5.1.6.3.1 */
#define DESCRIPTORS 24U    /* of a frame at most: Linux uses 19 */
#define CHAINS 48U         /* for a frame at most: Linux uses 43 */
#define STEP_BYTES 1536U   /* of a frame are copied at most before other CPUs can have the locks */
/* descriptors: with 256, a receiver's buffers were used up by 6 segments, and TCP waited for its
 * timer */
#define LONG_QUEUE 1024U
#define TYPE_VLAN 0x8100U
#define TYPE_SERVICE_VLAN 0x88a8U

/* The headers of a frame, as read once from the sender's memory, and to be written to the
   receivers'. */
struct head {
    /* struct virtio_net_hdr; little-endian */
    uint8_t flags, gso_type;
    uint16_t hdr_len, gso_size, csum_start, csum_offset, num_buffers;
    /* of the frame; big-endian */
    uint16_t destination[3], source[3], type;
};
#define HEAD_SIZE sizeof(struct head)
#define VIRTIO_HEADER 12U
#define NUM_BUFFERS offsetof(struct head, num_buffers)

/* What is under way at a port. */
enum sending {
    SENDING_NOTHING, /* no frame is taken from the send queue */
    SENDING_FRAME,   /* a frame, which is still in the queue, goes to its next receiver */
    SENDING_COPY,    /* it is being copied to `to`, whose chain is taken from its queue */
};

/* Counts frames against a limit for each millisecond. */
struct limit {
    ticks_t begun; /* of the current ms */
    uint32_t count;
};

struct port {
    struct virtio_device *dev;
    uint64_t mac;     /* its first byte in bits 7:0 */
    uint32_t segment; /* network and VLAN */
    bool uplink;
    /* Guarded by the lock of the send queue: */
    struct limit all, group;
    enum sending sending;
    bool to_group; /* it is for all ports of the segment */
    unsigned next; /* number of the first function that has not got it */
    struct head head;
    uint32_t least, most;     /* bytes of `head` and the rest */
    struct virtio_chain rest; /* of the frame, behind `head` */
    /* In SENDING_COPY: the receiver, and what is left of the frame and of the receiver's chain;
     * `generation` of its queue when the chain was taken; bytes copied, and of them those in
     * chains that are filled. */
    struct port *to;
    struct virtio_chain from, into;
    uint32_t generation, length, length_filled, nfilled;
    struct virtq_used filled[CHAINS];
    char *num_buffers; /* of the header, in the receiver's memory */
    /* Since the boot. Those of frames received, and dropped for want of a buffer, are guarded by
     * the lock of the receive queue. */
    struct virtio_net_counts counts;
};

static struct port ports[VIRTIO_MAX_FUNCTIONS]; /* by number of the function; owner: this file */

/* How the delivery to a port stands. */
enum outcome {
    DELIVERED,
    UNFINISHED, /* to be continued in the next step */
    DROPPED,    /* the receiver has no buffer, or a shorter one */
    TOO_LONG,   /* the frame is */
    SENDER_WRONG,
    RECEIVER_WRONG,
};

/* A port with a limit for frames sends them one by one, or a long segment would count as one. */
static void offer_offloads(struct virtio_device *dev)
{
    dev->offered |= FEATURE_CSUM | FEATURES_TO_DRIVER | FEATURE_MRG_RXBUF;
    dev->required |= FEATURES_TO_DRIVER;
    dev->queue_size = LONG_QUEUE;
    if (dev->config->frames_per_ms == 0 && dev->config->multicast_per_ms == 0) {
        dev->offered |= FEATURE_HOST_TSO4 | FEATURE_HOST_TSO6;
    }
}

/* Whether the ports of the network that are before this one have offloads if it has. */
static bool has_offloads_of_network(const struct virtio_device *dev)
{
    bool alike = true;

    for (const struct virtio_device *other = virtio_devices; other < dev; other++) {
        if (other->class == &virtio_net && other->config->network == dev->config->network) {
            alike =
                alike && ((other->config->flags ^ dev->config->flags) & VIRTIO_IMAGE_OFFLOADS) == 0;
        }
    }
    return alike;
}

static const char *net_boot(struct virtio_device *dev)
{
    const struct virtio_image_function *config = dev->config;
    struct port *port = &ports[virtio_number(dev)];

    *port = (struct port){
        .dev = dev,
        .mac = __builtin_bswap64(config->mac << 16),
        .segment = config->network << 12 | config->vlan,
        .uplink = (config->flags & VIRTIO_IMAGE_UPLINK) != 0,
    };
    dev->data = port;
    if ((config->flags & VIRTIO_IMAGE_OFFLOADS) != 0) {
        offer_offloads(dev);
    }
    return config->network < VIRTIO_MAX_NETWORKS && config->mac >> 48 == 0 &&
                   (port->mac & 1U) == 0 && config->vlan < 4095U && has_offloads_of_network(dev)
               ? NULL
               : "the image has a wrong port of a network";
}

static uint32_t net_config(const struct virtio_device *dev, unsigned offset)
{
    const struct port *port = dev->data;

    return offset < 8U ? (uint32_t)(port->mac >> offset * 8U) : 0;
}

static uint64_t address(const uint16_t *mac)
{
    return mac[0] | (uint64_t)mac[1] << 16 | (uint64_t)mac[2] << 32;
}

/* --- delivery to a port --- */

static bool is_mergeable(const struct port *port)
{
    return (port->dev->features & FEATURE_MRG_RXBUF) != 0;
}

/* Takes the first chain of the receiver's queue. */
static enum outcome take_chain(struct port *port, struct virtq *q)
{
    if (virtq_waiting(q) == 0) {
        return DROPPED;
    }
    return virtq_first(port->to->dev, q, DESCRIPTORS, &port->into) == VIRTIO_SOME ? DELIVERED
                                                                                  : RECEIVER_WRONG;
}

/* The frame continues in the receiver's next chain. */
static enum outcome fill_chain(struct port *port, struct virtq *q)
{
    enum outcome outcome;

    if (!is_mergeable(port->to) || port->num_buffers == NULL || port->nfilled == CHAINS - 1U) {
        return DROPPED;
    }
    port->filled[port->nfilled] =
        (struct virtq_used){port->into.head, port->length - port->length_filled};
    outcome = take_chain(port, q);
    if (outcome != DELIVERED) {
        return outcome;
    }
    port->nfilled++;
    port->length_filled = port->length;
    q->next++;
    return virtio_chain_span(&port->into) == VIRTIO_SOME ? DELIVERED : RECEIVER_WRONG;
}

/* The space for the next bytes of the frame. */
static enum outcome find_space(struct port *port, struct virtq *q)
{
    enum virtio_found space = virtio_chain_span(&port->into);
    enum outcome outcome = DELIVERED;

    if (space == VIRTIO_NONE) {
        outcome = fill_chain(port, q);
    } else if (space == VIRTIO_WRONG) {
        outcome = RECEIVER_WRONG;
    }
    return outcome == DELIVERED && !port->into.writable ? DROPPED : outcome;
}

/* The most bytes to copy before interrupts are polled. The piece behind them is aligned. */
static uint32_t step_bytes(const char *dst, const char *src)
{
    uint32_t most = (((uintptr_t)dst ^ (uintptr_t)src) & 7U) == 0 ? ALIKE_PIECE : UNLIKE_PIECE;

    return most - (uint32_t)((uintptr_t)dst % 8U);
}

/* The next bytes of the frame and the space for them: DELIVERED if both are there, or with *n = 0
 * at the frame's end. */
static enum outcome contiguous_bytes(struct port *port, struct virtq *q, uint32_t *n)
{
    enum virtio_found source = virtio_chain_span(&port->from);
    enum outcome outcome;
    uint32_t most;

    *n = 0;
    if (source == VIRTIO_NONE && port->length >= port->least) {
        return DELIVERED;
    }
    if (source != VIRTIO_SOME || port->from.writable) {
        return SENDER_WRONG;
    }
    outcome = find_space(port, q);
    if (outcome != DELIVERED) {
        return outcome;
    }
    *n = port->from.room < port->into.room ? port->from.room : port->into.room;
    most = step_bytes(port->into.at, port->from.at);
    *n = *n < most ? *n : most;
    return *n <= port->most - port->length ? DELIVERED : TOO_LONG;
}

static enum outcome copy_rest(struct port *port, struct virtq *q)
{
    uint32_t end = port->length + STEP_BYTES, n;

    for (unsigned pieces = 0; pieces < DESCRIPTORS && port->length < end; pieces++) {
        enum outcome outcome = contiguous_bytes(port, q, &n);

        if (outcome != DELIVERED || n == 0) {
            return outcome;
        }
        virtio_copy(port->into.at, port->from.at, n);
        virtio_chain_advance(&port->into, n);
        virtio_chain_advance(&port->from, n);
        port->length += n;
        if (arch_irq_pending()) {
            return UNFINISHED;
        }
    }
    return UNFINISHED;
}

/* Writes the head to the chain. The number of buffers is written again at the frame's end, so a
 * receiver that allows several has the header in one of them. */
static enum outcome write_head(struct port *port)
{
    enum virtio_found found = virtio_chain_span(&port->into);

    if (found == VIRTIO_SOME) {
        port->num_buffers = port->into.room < VIRTIO_HEADER ? NULL : port->into.at + NUM_BUFFERS;
        if (is_mergeable(port->to) && port->num_buffers == NULL) {
            return RECEIVER_WRONG;
        }
        found = virtio_chain_write(&port->into, &port->head, HEAD_SIZE);
    }
    if (found == VIRTIO_SOME) {
        return DELIVERED;
    }
    return found == VIRTIO_WRONG ? RECEIVER_WRONG : DROPPED;
}

/* Takes the receiver's next chain, and writes the head. With the lock of its queue. */
static enum outcome begin_delivery(struct port *port, struct virtq *q)
{
    enum outcome outcome = q->ready ? take_chain(port, q) : DROPPED;

    if (outcome != DELIVERED) {
        port->to->counts.no_buffer++;
        return outcome;
    }
    q->next++;
    port->generation = q->generation;
    port->from = port->rest;
    port->sending = SENDING_COPY;
    port->length = HEAD_SIZE;
    port->length_filled = 0;
    port->nfilled = 0;
    outcome = write_head(port);
    if (outcome == RECEIVER_WRONG) {
        port->sending = SENDING_FRAME; /* its chain is not returned */
    }
    return outcome;
}

/* Returns the receiver's chains; without bytes, which its driver ignores, if the frame is not
 * whole. */
static void end_delivery(struct port *port, struct virtq *q, enum outcome outcome)
{
    uint32_t n = port->nfilled + 1U;

    port->filled[n - 1U] = (struct virtq_used){port->into.head, port->length - port->length_filled};
    port->to->counts.received += outcome == DELIVERED ? 1U : 0U;
    port->to->counts.no_buffer += outcome == DROPPED ? 1U : 0U;
    for (unsigned i = 0; i < n && outcome != DELIVERED; i++) {
        port->filled[i].length = 0;
    }
    if (n > 1U) {
        port->num_buffers[0] = (char)n;
    }
    virtq_return_all(q, port->filled, n);
    port->sending = SENDING_FRAME;
    virtq_interrupt(port->to->dev, q);
}

/* Begins to copy the frame to port->to, or continues. */
static enum outcome deliver(struct port *port)
{
    struct virtq *q = &port->to->dev->queues[QUEUE_RECEIVE];
    enum outcome outcome = DELIVERED;

    spin_lock(&q->lock);
    if (port->sending != SENDING_COPY) {
        outcome = begin_delivery(port, q);
        outcome = outcome == DELIVERED && arch_irq_pending() ? UNFINISHED : outcome;
    } else if (q->generation != port->generation) {
        outcome = DROPPED;
        port->sending = SENDING_FRAME;
    }
    if (outcome == DELIVERED) {
        outcome = copy_rest(port, q);
    }
    if (outcome != UNFINISHED && port->sending == SENDING_COPY) {
        end_delivery(port, q, outcome);
    }
    if (outcome == RECEIVER_WRONG) {
        (void)virtio_wrong(port->to->dev);
    }
    spin_unlock(&q->lock);
    return outcome;
}

/* --- sending --- */

static bool rate_allows(struct limit *limit, uint32_t most)
{
    ticks_t now;

    if (most == 0) {
        return true;
    }
    now = arch_time();
    if (now - limit->begun >= hyp.us * 1000U) {
        *limit = (struct limit){.begun = now};
    }
    return limit->count++ < most;
}

/* The function's port if it is in the segment, or NULL. */
static struct port *port_in(uint32_t segment, const struct virtio_device *dev)
{
    struct port *port = dev->data;

    return dev->class == &virtio_net && port->segment == segment ? port : NULL;
}

/* Whether the address can be behind the uplink: it is that of a station, and no other port has
 * it. */
static bool is_outside(const struct port *uplink, uint64_t mac)
{
    for (unsigned n = 0; n < virtio_device_count; n++) {
        const struct port *port = port_in(uplink->segment, &virtio_devices[n]);

        if (port != NULL && port != uplink && port->mac == mac) {
            return false;
        }
    }
    return (mac & 1U) == 0;
}

/* Whether the frame whose head was read has a tag of IEEE 802.1Q or 802.1ad. */
static bool has_tag(const struct port *port)
{
    return port->head.type == __builtin_bswap16(TYPE_VLAN) ||
           port->head.type == __builtin_bswap16(TYPE_SERVICE_VLAN);
}

/* Whether the port may send the frame whose head was read. */
static bool may_send(struct port *port)
{
    const struct virtio_image_function *config = port->dev->config;
    uint64_t source = address(port->head.source);

    if ((source != port->mac && !(port->uplink && is_outside(port, source))) ||
        (config->vlan != 0 && has_tag(port))) {
        port->counts.spoofed++;
        return false;
    }
    if (!rate_allows(&port->all, config->frames_per_ms) ||
        (port->to_group && !rate_allows(&port->group, config->multicast_per_ms))) {
        port->counts.limited++;
        return false;
    }
    port->counts.sent++;
    return true;
}

/* Whether the driver may send such a segment. */
static bool may_segment(const struct port *port)
{
    uint64_t feature = 0;

    if (port->head.gso_type == GSO_TCPV4) {
        feature = FEATURE_HOST_TSO4;
    } else if (port->head.gso_type == GSO_TCPV6) {
        feature = FEATURE_HOST_TSO6;
    }
    return (port->dev->features & feature) != 0 && port->head.gso_size != 0;
}

/* Takes what the driver says about the frame's checksum and segments, unless it has not negotiated
 * to say it. The checksum must be within the frame; hdr_len is only a hint (section 5.1.6.2.2).
 * False if it must not say that (section 5.1.6.2). */
static bool take_offload(struct port *port)
{
    struct head *head = &port->head;
    bool checksum = head->flags != 0, segments = head->gso_type != GSO_NONE;
    uint32_t end;

    port->least = HEAD_SIZE;
    port->most = VIRTIO_HEADER + (segments ? SEGMENT_MAX : FRAME_MAX);
    if (!segments) {
        head->hdr_len = 0;
        head->gso_size = 0;
    }
    if (!checksum) {
        head->csum_start = 0;
        head->csum_offset = 0;
        return !segments;
    }
    end = (uint32_t)head->csum_start + head->csum_offset + CSUM_SIZE;
    port->least = VIRTIO_HEADER + end;
    return !segments || may_segment(port);
}

/* Reads the head of the next frame. VIRTIO_NONE: the chain is shorter. */
static enum virtio_found begin_frame(struct port *port, const struct virtq *q)
{
    enum virtio_found found = virtq_first(port->dev, q, DESCRIPTORS, &port->rest);

    if (found == VIRTIO_SOME) {
        found = virtio_chain_read(&port->rest, &port->head, HEAD_SIZE);
    }
    if (found == VIRTIO_SOME) {
        port->head.num_buffers = 1;
        if ((port->dev->features & FEATURE_CSUM) != 0) {
            port->head.flags &= NEEDS_CSUM; /* section 5.1.6.2.2: other flags are ignored */
        } else {
            port->head.flags = 0;
            port->head.gso_type = GSO_NONE;
        }
        found = take_offload(port) ? VIRTIO_SOME : VIRTIO_WRONG;
    }
    if (found == VIRTIO_SOME) {
        port->to_group = (port->head.destination[0] & 1U) != 0;
        port->next = may_send(port) ? 0 : virtio_device_count;
        port->nfilled = 0;
        port->sending = SENDING_FRAME;
    }
    return found;
}

/* The next port for the frame, or NULL. A frame whose address no port has is for the uplink. */
static struct port *next_receiver(struct port *port)
{
    uint64_t destination = address(port->head.destination);
    struct port *uplink = NULL;

    while (port->next < virtio_device_count) {
        struct port *to = port_in(port->segment, &virtio_devices[port->next++]);

        if (to == NULL || to == port) {
            continue;
        }
        if (port->to_group || to->mac == destination) {
            return to;
        }
        uplink = to->uplink ? to : uplink;
    }
    return port->to_group ? NULL : uplink;
}

/* Counts a frame that is wrong. Returns the device for virtio_break(), or NULL. */
static struct virtio_device *count_malformed(struct port *port, enum outcome outcome)
{
    if (outcome == SENDER_WRONG || outcome == TOO_LONG) {
        port->counts.malformed++;
    }
    if (outcome == RECEIVER_WRONG) {
        return port->to->dev;
    }
    return outcome == SENDER_WRONG ? virtio_wrong(port->dev) : NULL;
}

/* Whether the frame has no further receiver. The next step finds that if the receiver's chains were
 * many, too short or wrong, as to return them, or to stop the receiver, takes long. */
static bool is_sent(struct port *port, bool wrong)
{
    if (port->to == NULL) {
        return true;
    }
    if (!port->to_group && (port->nfilled != 0 || wrong)) {
        port->next = virtio_device_count;
        return false;
    }
    return !port->to_group;
}

/* Sends the frame to its next receiver. */
static struct virtio_step send_to_next(struct port *port, struct virtq *q)
{
    enum outcome outcome = DELIVERED;
    struct virtio_step step = {.wait = false};

    if (port->sending == SENDING_FRAME) {
        port->to = next_receiver(port);
    }
    if (port->to != NULL) {
        outcome = deliver(port);
    }
    if (outcome == UNFINISHED) {
        return step;
    }
    step.broken = count_malformed(port, outcome);
    if (outcome != SENDER_WRONG && is_sent(port, step.broken != NULL || outcome == DROPPED)) {
        port->sending = SENDING_NOTHING;
        virtio_done(port->dev, q, port->rest.head, 0);
    }
    return step;
}

static struct virtio_step net_step(struct virtio_device *dev, struct virtq *q)
{
    struct port *port = dev->data;

    if (port->sending == SENDING_NOTHING) {
        if (begin_frame(port, q) != VIRTIO_SOME) {
            port->counts.malformed++;
            return (struct virtio_step){.broken = virtio_wrong(dev)};
        }
        if (arch_irq_pending()) {
            return (struct virtio_step){.wait = false};
        }
    }
    return send_to_next(port, q);
}

struct virtio_net_counts virtio_net_count(struct virtio_device *dev)
{
    const struct port *port = dev->data;
    struct virtio_net_counts counts, received;

    spin_lock(&dev->queues[QUEUE_SEND].lock);
    counts = port->counts;
    spin_unlock(&dev->queues[QUEUE_SEND].lock);
    spin_lock(&dev->queues[QUEUE_RECEIVE].lock);
    received = port->counts;
    spin_unlock(&dev->queues[QUEUE_RECEIVE].lock);
    counts.received = received.received;
    counts.no_buffer = received.no_buffer;
    return counts;
}

/* A frame that was being copied is lost, and the receiver gets its chain back. */
static void forget_delivery(struct port *port)
{
    struct virtq *q = &port->to->dev->queues[QUEUE_RECEIVE];

    spin_lock(&q->lock);
    if (q->generation == port->generation) {
        end_delivery(port, q, DROPPED);
    }
    spin_unlock(&q->lock);
}

static void net_reset(struct virtio_device *dev)
{
    struct port *port = dev->data;
    struct virtq *q = &dev->queues[QUEUE_SEND];

    spin_lock(&q->lock);
    if (port->sending == SENDING_COPY) {
        forget_delivery(port);
    }
    port->sending = SENDING_NOTHING;
    spin_unlock(&q->lock);
}

const struct virtio_class virtio_net = {
    .type = VIRTIO_IMAGE_NET,
    .queues = 2,
    .pci_class = CLASS_ETHERNET,
    .features = FEATURE_MAC,
    .boot = net_boot,
    .config = net_config,
    .requests = 1U << QUEUE_SEND,
    .step = net_step,
    .reset = net_reset,
};
