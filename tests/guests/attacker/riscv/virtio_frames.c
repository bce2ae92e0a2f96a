/* SPDX-License-Identifier: Apache-2.0 */
/* The switch: forged frames, floods, and receivers whose buffers are wrong or change. */
#include "attacker_virtio.h"

#define TYPE 0x88b5U
#define TYPE_VLAN 0x8100U
#define MAC_PEER 0x020000000004U
#define FLOOD_MS 10U
#define CHANGE_TIME (20UL * MS)
#define RESET_TIME (60UL * MS)
#define RESETS_MIN 4U
#define UNTOUCHED 0xa5U
#define BUFFER ((uint64_t)(uintptr_t)buffer)

static volatile uint8_t buffer[2048] __attribute__((aligned(64)));

static void fill_buffer(void)
{
    for (unsigned i = 0; i < sizeof(buffer); i++) {
        buffer[i] = UNTOUCHED;
    }
}

static bool untouched(void)
{
    unsigned same = 0;

    while (same < sizeof(buffer) && buffer[same] == UNTOUCHED) {
        same++;
    }
    return same == sizeof(buffer);
}

static void start_ports(void)
{
    device_start(SLOT_NET, 0);
    device_start(SLOT_SECOND, 0);
    spin(MS); /* the limit of frames */
}

/* Sends a frame to the second port, which has one good buffer. Returns the length of what has
 * arrived, 0: nothing. */
static uint32_t arrived(const struct frame *frame)
{
    volatile struct ring *ring = &rings[SLOT_SECOND][0];

    start_ports();
    fill_buffer();
    post(SLOT_SECOND, (struct desc){BUFFER, sizeof(buffer), DESC_WRITE, 0});
    send_frame(SLOT_NET, frame);
    return used(ring) != 0 ? ring->used.ring[0].length : 0;
}

void virtio_frames(struct verdict *v, uint64_t arg)
{
    static const struct frame frames[] = {
        {MAC_SECOND, MAC_PEER, TYPE, 60},       /* another VM's source */
        {MAC_ALL, MAC_PEER, TYPE, 60},          /* for all */
        {MAC_SECOND, 0, TYPE, 60},              /* none */
        {MAC_SECOND, MAC_ALL, TYPE, 60},        /* a group's */
        {MAC_SECOND, MAC_SECOND, TYPE, 60},     /* the receiver's */
        {MAC_SECOND, MAC_OWN, TYPE, 1519},      /* too long */
        {MAC_SECOND, MAC_OWN, TYPE, 4096 - 12}, /* much too long */
        {MAC_NOBODY, MAC_OWN, TYPE, 60},
        {MAC_OWN, MAC_OWN, TYPE, 60},
    };

    (void)arg;
    for (size_t i = 0; i < LENGTH_OF(frames); i++) {
        uint32_t length = arrived(&frames[i]);

        judge(v, length == 0, "%u bytes of frame %lu arrive", length, (unsigned long)i);
    }
    judge(v, arrived(&(struct frame){MAC_SECOND, MAC_OWN, TYPE, 1518}) == FRAME_HEADER + 1518U,
          "a frame is lost");
    device_start(SLOT_NET, 0);
    describe(requests(SLOT_NET), 0, (struct desc){SCRATCH, FRAME_HEADER + 13U, 0, 0});
    judge_refused(v, SLOT_NET, "half a header");
    device_start(SLOT_NET, 0);
    describe(requests(SLOT_NET), 0, (struct desc){SCRATCH, FRAME_HEADER + 60U, DESC_WRITE, 0});
    judge_refused(v, SLOT_NET, "a frame in a buffer to write");
    judge_devices(v);
}

/* Frames to all, as fast as possible: the switch passes as many as the system file allows. The
 * second port has space for more. */
void virtio_flood(struct verdict *v, uint64_t arg)
{
    volatile struct ring *ring = &rings[SLOT_SECOND][0];
    uint64_t begun, taken;
    unsigned sent = 0;

    (void)arg;
    start_ports();
    for (unsigned i = 0; i < ENTRIES; i++) {
        post(SLOT_SECOND, (struct desc){BUFFER, sizeof(buffer), DESC_WRITE, 0});
    }
    begun = csr_read_time();
    while (csr_read_time() - begun < FLOOD_MS * MS) {
        send_frame(SLOT_NET, &(struct frame){MAC_ALL, MAC_OWN, TYPE, FRAME});
        device_notify(SLOT_NET, 0);
        device_notify(SLOT_SECOND, 1);
        sent++;
    }
    taken = (csr_read_time() - begun) / MS + 2U;
    judge(v, used(ring) <= taken * GROUPS_PER_MS, "%u of %u frames in %lu ms", used(ring), sent,
          taken);
    judge(v, used(ring) >= GROUPS_PER_MS, "only %u frames", used(ring));
    judge(v, used(requests(SLOT_NET)) == (uint16_t)sent, "%u of %u done", used(requests(SLOT_NET)),
          sent);
    v->tried += sent;
    judge_devices(v);
}

/* --- receivers --- */

struct receive_case {
    const char *what;
    struct desc desc;
    /* the receiver's device; otherwise the frame is dropped, and the buffer returned without
     * bytes */
    bool fails;
};

/* An address below 4096 is an offset in the buffer. */
static const struct receive_case receives[] = {
    {"a buffer to read", {0, 2048, 0, 0}, false},
    {"a buffer for half the header", {0, 20, DESC_WRITE, 0}, false},
    {"a buffer across the end", {RAM_END - 1024, 2048, DESC_WRITE, 0}, true},
    {"a buffer elsewhere", {REAL_WITNESS, 2048, DESC_WRITE, 0}, true},
    {"a buffer in the hypervisor", {REAL_HYPERVISOR, 2048, DESC_WRITE, 0}, true},
    {"an empty buffer", {0, 0, DESC_WRITE, 0}, true},
    {"a buffer that wraps", {ALL - 63, 2048, DESC_WRITE, 0}, true},
    {"a loop", {0, 1, DESC_WRITE | DESC_NEXT, 0}, true},
    {"an index out of range", {0, 20, DESC_WRITE | DESC_NEXT, 0xffff}, true},
};

static void try_receive(struct verdict *v, const struct receive_case *c, uint64_t destination)
{
    const volatile struct ring *ring = &rings[SLOT_SECOND][0];
    struct desc d = c->desc;

    d.address += d.address < 4096 ? BUFFER : 0;
    start_ports();
    fill_buffer();
    post(SLOT_SECOND, d);
    send_frame(SLOT_NET, &(struct frame){destination, MAC_OWN, TYPE, FRAME});
    judge(v, device_failed(SLOT_SECOND) == c->fails, "%s: status %x", c->what,
          *reg8(SLOT_SECOND, STATUS));
    judge(v, used(ring) == (c->fails ? 0 : 1U) && ring->used.ring[0].length == 0,
          "%s: a frame arrives", c->what);
    judge(v, (d.flags & DESC_WRITE) != 0 || untouched(), "%s: it is written", c->what);
    judge(v, !device_failed(SLOT_NET) && used(requests(SLOT_NET)) == 1, "%s: the sender notices",
          c->what);
}

/* Receive buffers that are no buffers, for frames to one port and to all. One that is offered twice
 * is used twice. */
void virtio_receive_buffers(struct verdict *v, uint64_t arg)
{
    volatile struct ring *ring = &rings[SLOT_SECOND][0];

    (void)arg;
    for (size_t i = 0; i < 2 * LENGTH_OF(receives); i++) {
        try_receive(v, &receives[i / 2], i % 2 == 0 ? MAC_SECOND : MAC_ALL);
    }
    start_ports();
    describe(ring, 0, (struct desc){BUFFER, sizeof(buffer), DESC_WRITE, 0});
    offer(ring, 0);
    offer(ring, 0);
    for (unsigned i = 0; i < 3; i++) {
        send_frame(SLOT_NET, &(struct frame){MAC_SECOND, MAC_OWN, TYPE, 60});
    }
    judge(v, used(ring) == 2, "%u frames in a buffer that was offered twice", used(ring));
    ring->avail.index += 0x4000;
    send_frame(SLOT_NET, &(struct frame){MAC_SECOND, MAC_OWN, TYPE, 60});
    judge(v, device_failed(SLOT_SECOND), "the receive queue's index may jump");
    judge_devices(v);
}

/* --- receivers that change --- */

static volatile unsigned written; /* after a reset */

/* Resets the first port in the middle of frames, and looks at the buffers that were its own. */
static void reset_receiver(unsigned long hart, void *argument)
{
    (void)hart;
    (void)argument;
    while (!changes_over) {
        device_start(SLOT_NET, 0);
        for (unsigned i = 0; i < ENTRIES; i++) {
            describe(&rings[SLOT_NET][0], i, (struct desc){BUFFER, sizeof(buffer), DESC_WRITE, 0});
            offer(&rings[SLOT_NET][0], (uint16_t)i);
        }
        /* longer than a slice: the sender sends */
        spin(3UL * MS / 2U + changes % 16U * (MS / 50U));
        *reg8(SLOT_NET, STATUS) = 0;
        fill_buffer();
        spin(3UL * MS / 2U); /* longer than a slice: the sender continues */
        written += untouched() ? 0U : 1U;
        changes++;
    }
}

/* A receiver that resets its device while frames are copied to it: nothing is written to its memory
 * after the reset. */
void virtio_receiver_resets(struct verdict *v, uint64_t arg)
{
    unsigned sent = 0;

    (void)arg;
    device_start(SLOT_SECOND, 0);
    device_begin(SLOT_NET, 0);
    written = 0;
    begin_changes(v, reset_receiver);
    for (uint64_t from = csr_read_time(); attack_goes_on(from, RESET_TIME, changes >= RESETS_MIN);
         sent++) {
        send_frame(SLOT_SECOND, &(struct frame){MAC_OWN, MAC_SECOND, TYPE, FRAME});
    }
    end_changes();
    judge(v, written == 0, "written %u times after %u resets", written, changes);
    judge(v, changes >= RESETS_MIN && !device_failed(SLOT_SECOND), "%u resets, %u sent", changes,
          sent);
    v->tried += changes;
    judge_devices(v);
}

/* Writes anything to the rings and descriptors of the second port. */
static void rewrite_receiver(unsigned long hart, void *argument)
{
    volatile struct ring *ring = &rings[SLOT_SECOND][0];
    uint64_t state = 0x1234567890abcdefU;

    (void)hart;
    (void)argument;
    while (!changes_over) {
        uint64_t n = random_next(&state);

        describe(ring, n % 8U,
                 (struct desc){BUFFER + n % 7U, (uint32_t)(n >> 40) % 2048U,
                               (uint16_t)(n >> 8 & 7U), 0});
        ring->desc[n % 8U].next = (uint16_t)(n >> 20 & 15U);
        ring->avail.ring[n >> 30 & 7U] = (uint16_t)(n >> 33 & 7U);
        ring->avail.index = (uint16_t)(ring->avail.index + (n >> 60 == 0 ? n : 1U));
        ring->used.index = (uint16_t)n;
        changes++;
    }
}

/* A receiver that rewrites its rings while frames are copied to it. */
void virtio_receiver_rewrites(struct verdict *v, uint64_t arg)
{
    unsigned failures = 0, sent = 0;

    (void)arg;
    start_ports();
    begin_changes(v, rewrite_receiver);
    for (uint64_t from = csr_read_time();
         attack_goes_on(from, CHANGE_TIME, changes >= CHANGES_MIN && failures > 0); sent++) {
        send_frame(SLOT_NET, &(struct frame){MAC_SECOND, MAC_OWN, TYPE, FRAME});
        if (device_failed(SLOT_SECOND)) {
            device_start(SLOT_SECOND, F_INDIRECT);
            failures++;
        }
    }
    end_changes();
    judge(v, !device_failed(SLOT_NET) && used(requests(SLOT_NET)) == (uint16_t)sent,
          "the sender notices");
    judge(v, changes >= CHANGES_MIN && failures > 0, "%u changes, %u failures", changes, failures);
    v->tried += sent;
    judge_devices(v);
}
