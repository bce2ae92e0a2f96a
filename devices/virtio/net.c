/* SPDX-License-Identifier: Apache-2.0 */
/*
 * virtio-net (virtio 1.2, section 5.1) and the switch between the NICs of a network. A NIC's
 * address is the system file's: a frame from another source address is dropped, so there is nothing
 * to learn. Behind an uplink are all other addresses. Frames reach NICs of the same VLAN only. A
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
#define FEATURE_GUEST_CSUM (UINT64_C(1) << 1) /* frames to the driver, likewise */
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

/* The headers of a frame, as read once from the sender's memory before the frame is copied, and to
 * be written to the receivers'. */
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

/* The state of a NIC's send queue. */
enum sending {
    SENDING_NOTHING, /* no frame is taken from the send queue */
    SENDING_FRAME,   /* a frame, which is still in the queue, goes to its next receiver */
    SENDING_COPY,    /* it is being copied to `to`, whose chain is taken from its queue */
};

/* Counts frames against a limit for each millisecond. */
struct limit {
    ticks_t begun;  /* when the current ms did */
    uint32_t count; /* of the ms's frames so far */
};

struct nic {
    /* Constant after boot. */
    struct virtio_device *dev;
    uint64_t mac;     /* its first byte in bits 7:0 */
    uint32_t segment; /* network and VLAN */
    bool uplink;

    /* Guarded by the lock of the send queue: */
    struct limit all, group; /* of all frames, and of those to group addresses */
    enum sending sending;
    bool to_group; /* it is for all NICs of the segment */
    unsigned next; /* number of the first function that has not got it */
    struct head head;
    uint32_t least, most;     /* bytes of `head` and the rest */
    struct virtio_chain rest; /* of the frame, behind `head` */
    /* In SENDING_COPY: the receiver, and what is left of the frame and of the receiver's chain;
     * `generation` of its queue when the chain was taken; bytes copied, and of them those in
     * chains that are filled. */
    struct nic *to;
    struct virtio_chain from, into;
    uint32_t generation, length, length_filled, nfilled;
    struct virtq_used filled[CHAINS];
    /* of the header, in the memory of a receiver that allows several chains, or NULL */
    char *num_buffers;
    /* Since the boot. Those of frames received, and dropped for want of a buffer, are guarded by
     * the lock of the receive queue. */
    struct virtio_net_counts counts;
};

static struct nic nics[VIRTIO_MAX_FUNCTIONS]; /* by number of the function; owner: this file */

/* The outcome of a delivery to a NIC. */
enum outcome {
    DELIVERED,
    UNFINISHED, /* to be continued in the next step */
    DROPPED,    /* the receiver has no buffer, or a shorter one */
    TOO_LONG,   /* the frame is */
    SENDER_WRONG,
    RECEIVER_WRONG,
};

/* A NIC with a limit for frames sends them one by one, or a long segment would count as one. */
static void offer_offloads(struct virtio_device *dev)
{
    dev->offered |= FEATURE_CSUM | FEATURES_TO_DRIVER | FEATURE_MRG_RXBUF;
    dev->required |= FEATURES_TO_DRIVER;
    dev->queue_size = LONG_QUEUE;
    if (dev->config->frames_per_ms == 0 && dev->config->multicast_per_ms == 0) {
        dev->offered |= FEATURE_HOST_TSO4 | FEATURE_HOST_TSO6;
    }
}

/* Whether the NICs of the network that are before this one have offloads if it has. The first of
 * them is enough: the boot ends at a NIC that differs. */
static bool has_offloads_of_network(const struct virtio_device *dev)
{
    for (const struct virtio_device *other = virtio_devices; other < dev; other++) {
        if (other->class == dev->class && other->config->network == dev->config->network) {
            return ((other->config->flags ^ dev->config->flags) & VIRTIO_IMAGE_OFFLOADS) == 0;
        }
    }
    return true;
}

static const char *net_boot(struct virtio_device *dev)
{
    const struct virtio_image_function *config = dev->config;
    struct nic *nic = &nics[virtio_number(dev)];

    *nic = (struct nic){
        .dev = dev,
        .mac = __builtin_bswap64(config->mac << 16),
        .segment = config->network << 12 | config->vlan,
        .uplink = (config->flags & VIRTIO_IMAGE_UPLINK) != 0,
    };
    dev->data = nic;
    if ((config->flags & VIRTIO_IMAGE_OFFLOADS) != 0) {
        offer_offloads(dev);
    }
    return config->network < VIRTIO_MAX_NETWORKS && config->mac >> 48 == 0 &&
                   (nic->mac & 1U) == 0 && config->vlan < 4095U && has_offloads_of_network(dev)
               ? NULL
               : "the image has a wrong NIC of a network";
}

static uint32_t net_config(const struct virtio_device *dev, unsigned offset)
{
    const struct nic *nic = dev->data;

    return offset < 8U ? (uint32_t)(nic->mac >> offset * 8U) : 0;
}

static uint64_t address(const uint16_t *mac)
{
    return mac[0] | (uint64_t)mac[1] << 16 | (uint64_t)mac[2] << 32;
}

/* --- delivery to a NIC --- */

static bool is_mergeable(const struct nic *nic)
{
    return (nic->dev->features & FEATURE_MRG_RXBUF) != 0;
}

/* Takes the first chain of the receiver's queue. */
static enum outcome take_chain(struct nic *nic, struct virtq *q)
{
    if (virtq_waiting(q) == 0) {
        return DROPPED;
    }
    return virtq_first(nic->to->dev, q, DESCRIPTORS, &nic->into) == VIRTIO_SOME ? DELIVERED
                                                                                : RECEIVER_WRONG;
}

/* The frame continues in the receiver's next chain. */
static enum outcome fill_chain(struct nic *nic, struct virtq *q)
{
    enum outcome outcome;

    if (nic->num_buffers == NULL || nic->nfilled == CHAINS - 1U) {
        return DROPPED;
    }
    nic->filled[nic->nfilled] =
        (struct virtq_used){nic->into.head, nic->length - nic->length_filled};
    outcome = take_chain(nic, q);
    if (outcome != DELIVERED) {
        return outcome;
    }
    nic->nfilled++;
    nic->length_filled = nic->length;
    q->next++;
    return virtio_chain_span(&nic->into) == VIRTIO_SOME ? DELIVERED : RECEIVER_WRONG;
}

/* The space for the next bytes of the frame. */
static enum outcome find_space(struct nic *nic, struct virtq *q)
{
    enum virtio_found space = virtio_chain_span(&nic->into);
    enum outcome outcome = DELIVERED;

    if (space == VIRTIO_NONE) {
        outcome = fill_chain(nic, q);
    } else if (space == VIRTIO_WRONG) {
        outcome = RECEIVER_WRONG;
    }
    return outcome == DELIVERED && !nic->into.writable ? DROPPED : outcome;
}

/* The most bytes to copy before interrupts are polled. The piece behind them is aligned. */
static uint32_t step_bytes(const char *dst, const char *src)
{
    uint32_t most = (((uintptr_t)dst ^ (uintptr_t)src) & 7U) == 0 ? ALIKE_PIECE : UNLIKE_PIECE;

    return most - (uint32_t)((uintptr_t)dst % 8U);
}

/* The next bytes of the frame and the space for them: DELIVERED if both are there, or with *n = 0
 * at the frame's end. */
static enum outcome contiguous_bytes(struct nic *nic, struct virtq *q, uint32_t *n)
{
    enum virtio_found source = virtio_chain_span(&nic->from);
    enum outcome outcome;
    uint32_t most;

    *n = 0;
    if (source == VIRTIO_NONE && nic->length >= nic->least) {
        return DELIVERED;
    }
    if (source != VIRTIO_SOME || nic->from.writable) {
        return SENDER_WRONG;
    }
    outcome = find_space(nic, q);
    if (outcome != DELIVERED) {
        return outcome;
    }
    most = step_bytes(nic->into.at, nic->from.at);
    *n = virtio_min(virtio_min(nic->from.room, nic->into.room), most);
    return *n <= nic->most - nic->length ? DELIVERED : TOO_LONG;
}

static enum outcome copy_rest(struct nic *nic, struct virtq *q)
{
    uint32_t end = nic->length + STEP_BYTES, n;

    for (unsigned pieces = 0; pieces < DESCRIPTORS && nic->length < end; pieces++) {
        enum outcome outcome = contiguous_bytes(nic, q, &n);

        if (outcome != DELIVERED || n == 0) {
            return outcome;
        }
        virtio_copy(nic->into.at, nic->from.at, n);
        virtio_chain_advance(&nic->into, n);
        virtio_chain_advance(&nic->from, n);
        nic->length += n;
        if (arch_irq_pending()) {
            return UNFINISHED;
        }
    }
    return UNFINISHED;
}

/* Writes the head to the chain. The number of buffers is written again at the frame's end, so a
 * receiver that allows several has the header in one of them. */
static enum outcome write_head(struct nic *nic)
{
    enum virtio_found found = virtio_chain_span(&nic->into);

    if (found == VIRTIO_SOME) {
        bool mergeable = is_mergeable(nic->to);

        if (mergeable && nic->into.room < VIRTIO_HEADER) {
            return RECEIVER_WRONG;
        }
        nic->num_buffers = mergeable ? nic->into.at + NUM_BUFFERS : NULL;
        found = virtio_chain_write(&nic->into, &nic->head, HEAD_SIZE);
    }
    if (found == VIRTIO_SOME) {
        return DELIVERED;
    }
    return found == VIRTIO_WRONG ? RECEIVER_WRONG : DROPPED;
}

/* Takes the receiver's next chain, and writes the head. With the lock of its queue. */
static enum outcome begin_delivery(struct nic *nic, struct virtq *q)
{
    enum outcome outcome = q->ready ? take_chain(nic, q) : DROPPED;

    if (outcome != DELIVERED) {
        nic->to->counts.no_buffer++;
        return outcome;
    }
    q->next++;
    nic->generation = q->generation;
    nic->from = nic->rest;
    nic->sending = SENDING_COPY;
    nic->length = HEAD_SIZE;
    nic->length_filled = 0;
    nic->nfilled = 0;
    outcome = write_head(nic);
    if (outcome == RECEIVER_WRONG) {
        nic->sending = SENDING_FRAME; /* its chain is not returned */
    }
    return outcome;
}

/* Returns the receiver's chains; without bytes, which its driver ignores, if the frame is not
 * whole. */
static void end_delivery(struct nic *nic, struct virtq *q, enum outcome outcome)
{
    uint32_t n = nic->nfilled + 1U;

    nic->filled[n - 1U] = (struct virtq_used){nic->into.head, nic->length - nic->length_filled};
    nic->to->counts.received += outcome == DELIVERED ? 1U : 0U;
    nic->to->counts.no_buffer += outcome == DROPPED ? 1U : 0U;
    for (unsigned i = 0; i < n && outcome != DELIVERED; i++) {
        nic->filled[i].length = 0;
    }
    if (n > 1U) {
        nic->num_buffers[0] = (char)n;
    }
    virtq_return_all(q, nic->filled, n);
    nic->sending = SENDING_FRAME;
    virtq_interrupt(nic->to->dev, q);
}

/* Begins to copy the frame to nic->to, or continues. */
static enum outcome deliver(struct nic *nic)
{
    struct virtq *q = &nic->to->dev->queues[QUEUE_RECEIVE];
    enum outcome outcome = DELIVERED;

    spin_lock(&q->lock);
    if (nic->sending != SENDING_COPY) {
        outcome = begin_delivery(nic, q);
        outcome = outcome == DELIVERED && arch_irq_pending() ? UNFINISHED : outcome;
    } else if (q->generation != nic->generation) {
        outcome = DROPPED;
        nic->sending = SENDING_FRAME;
    }
    if (outcome == DELIVERED) {
        outcome = copy_rest(nic, q);
    }
    if (outcome != UNFINISHED && nic->sending == SENDING_COPY) {
        end_delivery(nic, q, outcome);
    }
    if (outcome == RECEIVER_WRONG) {
        (void)virtio_wrong(nic->to->dev);
    }
    spin_unlock(&q->lock);
    return outcome;
}

/* --- sending --- */

/* Counts one more in this millisecond. */
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

/* The function's NIC if it is in the segment, or NULL. */
static struct nic *nic_in(uint32_t segment, const struct virtio_device *dev)
{
    struct nic *nic = dev->data;

    return dev->config->kind == VIRTIO_IMAGE_NET && nic->segment == segment ? nic : NULL;
}

/* Whether the address, which is not the uplink's own, can be behind it: it is that of a station,
 * and no NIC has it. */
static bool is_outside(const struct nic *uplink, uint64_t mac)
{
    for (unsigned n = 0; n < virtio_device_count; n++) {
        const struct nic *nic = nic_in(uplink->segment, &virtio_devices[n]);

        if (nic != NULL && nic->mac == mac) {
            return false;
        }
    }
    return (mac & 1U) == 0;
}

/* Whether the frame whose head was read has a tag of IEEE 802.1Q or 802.1ad. */
static bool has_tag(const struct nic *nic)
{
    return nic->head.type == __builtin_bswap16(TYPE_VLAN) ||
           nic->head.type == __builtin_bswap16(TYPE_SERVICE_VLAN);
}

/* Counts the frame whose head was read, also in the limits of its NIC. Returns whether the NIC may
 * send it. */
static bool admit_frame(struct nic *nic)
{
    const struct virtio_image_function *config = nic->dev->config;
    uint64_t source = address(nic->head.source);

    if ((source != nic->mac && !(nic->uplink && is_outside(nic, source))) ||
        (config->vlan != 0 && has_tag(nic))) {
        nic->counts.spoofed++;
        return false;
    }
    if (!rate_allows(&nic->all, config->frames_per_ms) ||
        (nic->to_group && !rate_allows(&nic->group, config->multicast_per_ms))) {
        nic->counts.limited++;
        return false;
    }
    nic->counts.sent++;
    return true;
}

/* Whether the driver may send such a segment. */
static bool may_segment(const struct nic *nic)
{
    uint64_t feature = 0;

    if (nic->head.gso_type == GSO_TCPV4) {
        feature = FEATURE_HOST_TSO4;
    } else if (nic->head.gso_type == GSO_TCPV6) {
        feature = FEATURE_HOST_TSO6;
    }
    return (nic->dev->features & feature) != 0 && nic->head.gso_size != 0;
}

/* Takes what the driver says about the frame's checksum and segments, unless it has not negotiated
 * to say it. The checksum must be within the frame; hdr_len is only a hint (section 5.1.6.2.2).
 * False if it must not say that (section 5.1.6.2). */
static bool take_offload(struct nic *nic)
{
    struct head *head = &nic->head;
    bool checksum = head->flags != 0, segments = head->gso_type != GSO_NONE;
    uint32_t end;

    nic->least = HEAD_SIZE;
    nic->most = VIRTIO_HEADER + (segments ? SEGMENT_MAX : FRAME_MAX);
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
    nic->least = VIRTIO_HEADER + end;
    return !segments || may_segment(nic);
}

/* Reads the head of the next frame. VIRTIO_NONE: the chain is shorter. */
static enum virtio_found begin_frame(struct nic *nic, const struct virtq *q)
{
    enum virtio_found found = virtq_first(nic->dev, q, DESCRIPTORS, &nic->rest);

    if (found == VIRTIO_SOME) {
        found = virtio_chain_read(&nic->rest, &nic->head, HEAD_SIZE);
    }
    if (found == VIRTIO_SOME) {
        nic->head.num_buffers = 1;
        if ((nic->dev->features & FEATURE_CSUM) != 0) {
            nic->head.flags &= NEEDS_CSUM; /* section 5.1.6.2.2: other flags are ignored */
        } else {
            nic->head.flags = 0;
            nic->head.gso_type = GSO_NONE;
        }
        found = take_offload(nic) ? VIRTIO_SOME : VIRTIO_WRONG;
    }
    if (found == VIRTIO_SOME) {
        nic->to_group = (nic->head.destination[0] & 1U) != 0;
        nic->next = admit_frame(nic) ? 0 : virtio_device_count;
        nic->sending = SENDING_FRAME;
    }
    return found;
}

/* The next NIC for the frame, or NULL. A frame whose address no NIC has is for the uplink. */
static struct nic *next_receiver(struct nic *nic)
{
    uint64_t destination = address(nic->head.destination);
    struct nic *uplink = NULL;

    while (nic->next < virtio_device_count) {
        struct nic *to = nic_in(nic->segment, &virtio_devices[nic->next++]);

        if (to == NULL || to == nic) {
            continue;
        }
        if (nic->to_group || to->mac == destination) {
            return to;
        }
        uplink = to->uplink ? to : uplink;
    }
    return nic->to_group ? NULL : uplink;
}

/* Counts a frame that is wrong. Returns the device for virtio_break(), or NULL. */
static struct virtio_device *count_malformed(struct nic *nic, enum outcome outcome)
{
    if (outcome == SENDER_WRONG || outcome == TOO_LONG) {
        nic->counts.malformed++;
    }
    if (outcome == RECEIVER_WRONG) {
        return nic->to->dev;
    }
    return outcome == SENDER_WRONG ? virtio_wrong(nic->dev) : NULL;
}

/* Ends the frame for nic->to. Returns whether it has no further receiver; if this one's chains were
 * many, too short or wrong, the next step finds that, because to return them takes long. */
static bool finish_receiver(struct nic *nic, bool wrong)
{
    if (nic->to == NULL) {
        return true;
    }
    if (!nic->to_group && (nic->nfilled != 0 || wrong)) {
        nic->next = virtio_device_count;
        return false;
    }
    return !nic->to_group;
}

/* Sends the frame to its next receiver. */
static struct virtio_step send_to_next(struct nic *nic, struct virtq *q)
{
    enum outcome outcome = DELIVERED;
    struct virtio_step step = {.wait = false};

    if (nic->sending == SENDING_FRAME) {
        nic->to = next_receiver(nic);
    }
    if (nic->to != NULL) {
        outcome = deliver(nic);
    }
    if (outcome == UNFINISHED) {
        return step;
    }
    step.broken = count_malformed(nic, outcome);
    if (outcome != SENDER_WRONG &&
        finish_receiver(nic, step.broken != NULL || outcome == DROPPED)) {
        nic->sending = SENDING_NOTHING;
        virtio_done(nic->dev, q, nic->rest.head, 0);
    }
    return step;
}

static struct virtio_step net_step(struct virtio_device *dev, struct virtq *q)
{
    struct nic *nic = dev->data;

    if (nic->sending == SENDING_NOTHING) {
        if (begin_frame(nic, q) != VIRTIO_SOME) {
            nic->counts.malformed++;
            return (struct virtio_step){.broken = virtio_wrong(dev)};
        }
        if (arch_irq_pending()) {
            return (struct virtio_step){.wait = false};
        }
    }
    return send_to_next(nic, q);
}

struct virtio_net_counts virtio_net_count(struct virtio_device *dev)
{
    const struct nic *nic = dev->data;
    struct virtio_net_counts counts;

    spin_lock(&dev->queues[QUEUE_SEND].lock);
    counts = nic->counts;
    spin_unlock(&dev->queues[QUEUE_SEND].lock);
    spin_lock(&dev->queues[QUEUE_RECEIVE].lock);
    counts.received = nic->counts.received;
    counts.no_buffer = nic->counts.no_buffer;
    spin_unlock(&dev->queues[QUEUE_RECEIVE].lock);
    return counts;
}

/* A frame that was being copied is lost, and the receiver gets its chain back. */
static void forget_delivery(struct nic *nic)
{
    struct virtq *q = &nic->to->dev->queues[QUEUE_RECEIVE];

    spin_lock(&q->lock);
    if (q->generation == nic->generation) {
        end_delivery(nic, q, DROPPED);
    }
    spin_unlock(&q->lock);
}

static void net_reset(struct virtio_device *dev)
{
    struct nic *nic = dev->data;
    struct virtq *q = &dev->queues[QUEUE_SEND];

    spin_lock(&q->lock);
    if (nic->sending == SENDING_COPY) {
        forget_delivery(nic);
    }
    nic->sending = SENDING_NOTHING;
    spin_unlock(&q->lock);
}

VIRTIO_CLASS(net) = {
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
