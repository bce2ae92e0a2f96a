/* SPDX-License-Identifier: Apache-2.0 */
/*
 * virtio-net (virtio 1.2, section 5.1) and the switch between the ports of a network. A port's address is the system file's: a frame
 * from another source address is dropped, so there is nothing to learn. Behind an uplink are all other addresses. Frames reach ports of
 * the same VLAN only. A frame for which the receiver has no buffer is dropped, as by a real switch.
 */
#include "arch.h"
#include "lib.h"
#include "virtio.h"

#define QUEUE_RECEIVE 0U
#define QUEUE_SEND 1U
#define FEATURE_MAC (UINT64_C(1) << 5)
#define CLASS_ETHERNET 0x020000U

#define FRAME_HEADER 14U
#define FRAME_MAX 1518U /* with a VLAN tag */
#define DESCRIPTORS 24U /* of a frame at most: Linux uses 19 */
#define TYPE_VLAN 0x8100U

/* The headers of a frame, as read once from the sender's memory, and to be written to the receivers'. */
struct head {
    uint32_t virtio[3];                       /* struct virtio_net_hdr */
    uint16_t destination[3], source[3], type; /* big-endian */
    uint16_t reserved;
};
#define HEAD_SIZE (sizeof(uint32_t[3]) + FRAME_HEADER)
#define ONE_BUFFER (1U << 16) /* num_buffers, in virtio[2] */

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
    bool sending;  /* a frame, which is still in the queue */
    bool to_group; /* it is for all ports of the segment */
    unsigned next; /* number of the first function that has not got it */
    struct head head;
    struct virtio_chain rest; /* of the frame, behind `head` */
    /* The port to which it is being copied, or NULL, and what is left of the frame and of the receiver's chain, which is taken from
     * its queue; `life` of the queue then; bytes copied. */
    struct port *to;
    struct virtio_chain from, into;
    uint32_t life, length;
    /* Since the boot. Those of frames received, and dropped for want of a buffer, are guarded by the lock of the receive queue. */
    struct virtio_net_counts counts;
};

static struct port ports[VIRTIO_MAX_FUNCTIONS]; /* by number of the function; owner: this file */

/* How the delivery to a port stands. */
enum outcome {
    DELIVERED,
    INTERRUPTED, /* an interrupt is pending: continued after it */
    DROPPED,     /* the receiver has no buffer, or a shorter one */
    TOO_LONG,    /* the frame is */
    SENDER_WRONG,
    RECEIVER_WRONG,
};

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
    return config->network < VIRTIO_MAX_NETWORKS && config->mac >> 48 == 0 && (port->mac & 1U) == 0 &&
                   config->vlan < 4095U
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

/* The next bytes of the frame and the space for them: DELIVERED if both are there, or with *n = 0 at the frame's end. */
static enum outcome spans(struct port *port, uint32_t *n)
{
    enum virtio_found source = virtio_chain_span(&port->from), space;
    uint32_t most;

    *n = 0;
    if (source != VIRTIO_SOME || port->from.writable) {
        return source == VIRTIO_NONE ? DELIVERED : SENDER_WRONG;
    }
    space = virtio_chain_span(&port->into);
    if (space != VIRTIO_SOME || !port->into.writable) {
        return space == VIRTIO_WRONG ? RECEIVER_WRONG : DROPPED;
    }
    *n = port->from.room < port->into.room ? port->from.room : port->into.room;
    most = VIRTIO_PIECE - (uint32_t)((uintptr_t)port->into.at % 8U); /* the next piece is aligned */
    *n = *n < most ? *n : most;
    return *n <= HEAD_SIZE - FRAME_HEADER + FRAME_MAX - port->length ? DELIVERED : TOO_LONG;
}

static enum outcome copy_rest(struct port *port)
{
    enum outcome outcome;
    uint32_t n;

    for (;;) {
        outcome = spans(port, &n);
        if (outcome != DELIVERED || n == 0) {
            return outcome;
        }
        virtio_copy(port->into.at, port->from.at, n);
        virtio_chain_advance(&port->into, n);
        virtio_chain_advance(&port->from, n);
        port->length += n;
        if (arch_irq_pending()) {
            return INTERRUPTED;
        }
    }
}

/* Takes the receiver's next chain, and writes the head. With the lock of its queue. */
static enum outcome begin_delivery(struct port *port, struct virtq *q)
{
    enum virtio_found found;

    if (!q->ready || virtq_waiting(q) == 0) {
        port->to->counts.no_buffer++;
        return DROPPED;
    }
    found = virtq_first(port->to->dev, q, DESCRIPTORS, &port->into);
    if (found == VIRTIO_SOME) {
        found = virtio_chain_write(&port->into, &port->head, HEAD_SIZE);
    }
    if (found != VIRTIO_SOME) {
        port->to->counts.no_buffer++;
        return found == VIRTIO_WRONG ? RECEIVER_WRONG : DROPPED;
    }
    q->next++;
    port->life = q->life;
    port->from = port->rest;
    port->length = HEAD_SIZE;
    return DELIVERED;
}

/* Returns the receiver's chain; without bytes, which its driver ignores, if the frame is not whole. */
static bool end_delivery(struct port *port, struct virtq *q, enum outcome outcome)
{
    if (outcome == DELIVERED) {
        port->to->counts.received++;
    } else {
        port->length = 0;
        port->to->counts.no_buffer += outcome == DROPPED ? 1U : 0U;
    }
    virtq_return(q, port->into.head, port->length);
    port->length = 0;
    return virtq_wants_interrupt(port->to->dev, q);
}

/* Begins to copy the frame to port->to, or continues. */
static enum outcome deliver(struct port *port)
{
    struct virtq *q = &port->to->dev->queues[QUEUE_RECEIVE];
    enum outcome outcome = DELIVERED;
    bool interrupt = false;

    spin_lock(&q->lock);
    if (port->length == 0) {
        outcome = begin_delivery(port, q);
        outcome = outcome == DELIVERED && arch_irq_pending() ? INTERRUPTED : outcome;
    } else if (q->life != port->life) {
        outcome = DROPPED;
        port->length = 0;
    }
    if (outcome == DELIVERED) {
        outcome = copy_rest(port);
        interrupt = outcome != INTERRUPTED && end_delivery(port, q, outcome);
    }
    spin_unlock(&q->lock);
    if (interrupt) {
        virtio_interrupt(port->to->dev, VIRTIO_ISR_QUEUE);
    }
    return outcome;
}

/* --- sending --- */

static bool within(struct limit *limit, uint32_t most)
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

/* Whether the address can be behind the uplink: it is that of a station, and no other port has it. */
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

/* Whether the port may send the frame whose head was read. */
static bool may_send(struct port *port)
{
    const struct virtio_image_function *config = port->dev->config;
    uint64_t source = address(port->head.source);

    if ((source != port->mac && !(port->uplink && is_outside(port, source))) ||
        (config->vlan != 0 && port->head.type == __builtin_bswap16(TYPE_VLAN))) {
        port->counts.spoofed++;
        return false;
    }
    if (!within(&port->all, config->frames_per_ms) ||
        (port->to_group && !within(&port->group, config->multicast_per_ms))) {
        port->counts.limited++;
        return false;
    }
    port->counts.sent++;
    return true;
}

/* Reads the head of the next frame. VIRTIO_NONE: the chain is shorter. */
static enum virtio_found begin_frame(struct port *port, const struct virtq *q)
{
    enum virtio_found found = virtq_first(port->dev, q, DESCRIPTORS, &port->rest);

    if (found == VIRTIO_SOME) {
        found = virtio_chain_read(&port->rest, &port->head, HEAD_SIZE);
    }
    if (found == VIRTIO_SOME) {
        port->head.virtio[0] = 0;
        port->head.virtio[1] = 0;
        port->head.virtio[2] = ONE_BUFFER;
        port->to_group = (port->head.destination[0] & 1U) != 0;
        port->next = may_send(port) ? 0 : virtio_device_count;
        port->to = NULL;
        port->sending = true;
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

/* Counts a frame that is wrong. Returns whose driver has violated the specification, or NULL. */
static struct virtio_device *blame(struct port *port, enum outcome outcome)
{
    if (outcome == SENDER_WRONG || outcome == TOO_LONG) {
        port->counts.malformed++;
    }
    if (outcome == RECEIVER_WRONG) {
        return port->to->dev;
    }
    return outcome == SENDER_WRONG ? port->dev : NULL;
}

/* Sends the frame to its next receiver. */
static struct virtio_step send_to_next(struct port *port, struct virtq *q)
{
    enum outcome outcome = DELIVERED;
    struct virtio_step step = {.wait = false};

    port->to = port->to != NULL ? port->to : next_receiver(port);
    if (port->to != NULL) {
        outcome = deliver(port);
    }
    if (outcome == INTERRUPTED) {
        return step;
    }
    step.broken = blame(port, outcome);
    if (outcome != SENDER_WRONG && (port->to == NULL || !port->to_group)) {
        port->sending = false;
        virtio_done(port->dev, q, port->rest.head, 0);
    }
    port->to = NULL;
    return step;
}

static struct virtio_step net_step(struct virtio_device *dev, struct virtq *q)
{
    struct port *port = dev->data;

    if (!port->sending) {
        if (begin_frame(port, q) != VIRTIO_SOME) {
            port->counts.malformed++;
            return (struct virtio_step){.broken = dev};
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
    bool interrupt = false;

    spin_lock(&q->lock);
    if (port->length != 0 && q->life == port->life) {
        interrupt = end_delivery(port, q, DROPPED);
    }
    port->length = 0;
    spin_unlock(&q->lock);
    if (interrupt) {
        virtio_interrupt(port->to->dev, VIRTIO_ISR_QUEUE);
    }
}

static void net_reset(struct virtio_device *dev)
{
    struct port *port = dev->data;
    struct virtq *q = &dev->queues[QUEUE_SEND];

    spin_lock(&q->lock);
    if (port->to != NULL) {
        forget_delivery(port);
    }
    port->to = NULL;
    port->sending = false;
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
