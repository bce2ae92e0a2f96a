/* SPDX-License-Identifier: Apache-2.0 */
/* Wrong rings and descriptors in the queues of virtual PCI functions. */
#include "attacker_virtio.h"

#define LENGTH 64U /* of a buffer */
#define TABLE ((uint64_t)(uintptr_t)&tables)
#define TORN_TIME (8UL * MS)
#define TORN_MIN 11U

static volatile struct desc tables[ENTRIES] __attribute__((aligned(16)));

/* --- rings --- */

/* Starts the device with one of the areas of its queue at `address`. */
static void try_ring(enum slot slot, unsigned area, uint64_t address)
{
    device_begin(slot, 0);
    *reg16(slot, QUEUE) = (uint16_t)requests_of(slot);
    for (unsigned i = 0; i < 3; i++) {
        uint64_t place = i == area ? address : RAM_FREE + 0x10000U * i;

        *reg32(slot, QUEUE_ADDRESS + 8U * i) = (uint32_t)place;
        *reg32(slot, QUEUE_ADDRESS + 8U * i + 4U) = (uint32_t)(place >> 32);
    }
    *reg16(slot, QUEUE_ENABLE) = 1;
    *reg8(slot, STATUS) = STATUS_DRIVER | STATUS_FEATURES_OK | STATUS_DRIVER_OK;
    device_notify(slot, requests_of(slot));
}

/* Rings in memory of others, in devices, across the end of the RAM or of the address space;
 * misaligned ones. In shared memory they are as good as in RAM. */
void virtio_rings(struct verdict *v, uint64_t arg)
{
    static const uint64_t places[] = BAD_PLACES;
    static const uint64_t more[] = {RAM_END - 16, RAM_BASE - 64, SHARED_END - 16, RAM_BASE + 1,
                                    ALL - 4095};

    (void)arg;
    for (enum slot slot = 0; slot < SLOTS; slot++) {
        for (unsigned i = 0; is_virtio(slot) && i < 3 * (LENGTH_OF(places) + LENGTH_OF(more));
             i++) {
            uint64_t place =
                i / 3 < LENGTH_OF(places) ? places[i / 3] : more[i / 3 - LENGTH_OF(places)];

            try_ring(slot, i % 3, place);
            judge(v, device_failed(slot), "function %u takes area %u at 0x%lx", slot, i % 3, place);
        }
        try_ring(slot == SLOT_MAILBOX ? SLOT_RNG : slot, 0, SHARED_BASE + 0x100000);
        judge(v, !device_failed(slot == SLOT_MAILBOX ? SLOT_RNG : slot),
              "function %u refuses shared memory", slot);
    }
    judge_devices(v);
}

/* --- buffers --- */

void virtio_buffers(struct verdict *v, uint64_t arg)
{
    static const uint64_t places[] = BAD_ADDRESSES(LENGTH);

    (void)arg;
    for (unsigned i = 0; i < SLOTS * LENGTH_OF(places); i++) {
        enum slot slot = i % SLOTS;
        uint16_t flags = slot == SLOT_RNG ? DESC_WRITE : 0;

        if (is_virtio(slot)) {
            device_start(slot, 0);
            describe(requests(slot), 0, (struct desc){places[i / SLOTS], LENGTH, flags, 0});
            judge_refused(v, slot, "a buffer elsewhere");
        }
    }
    judge_devices(v);
}

/* --- chains --- */

/* Descriptor 0, with which each chain begins; `address` 0: of SCRATCH; and the first of an indirect
 * table. */
struct chain_case {
    const char *what;
    struct desc first, inner;
    uint64_t features;
};

static const struct chain_case chains[] = {
    {"a loop", {0, 1, DESC_NEXT, 0}, {0}, 0},
    {"an index out of range", {0, 1, DESC_NEXT, ENTRIES}, {0}, 0},
    {"the last index", {0, 1, DESC_NEXT, 0xffff}, {0}, 0},
    {"an empty buffer", {0, 0, 0, 0}, {0}, 0},
    {"the longest buffer", {0, 0xffffffff, 0, 0}, {0}, 0},
    {"a table that was not negotiated", {1, 16, DESC_INDIRECT, 0}, {0, 1, 0, 0}, 0},
    {"an empty table", {1, 0, DESC_INDIRECT, 0}, {0}, F_INDIRECT},
    {"half a descriptor", {1, 24, DESC_INDIRECT, 0}, {0, 1, DESC_NEXT, 1}, F_INDIRECT},
    {"a table that is continued", {1, 16, DESC_INDIRECT | DESC_NEXT, 1}, {0, 1, 0, 0}, F_INDIRECT},
    {"a misaligned table", {5, 32, DESC_INDIRECT, 0}, {0, 1, 0, 0}, F_INDIRECT},
    {"a table elsewhere", {REAL_WITNESS, 16, DESC_INDIRECT, 0}, {0, 1, 0, 0}, F_INDIRECT},
    {"a table across the end", {RAM_END - 16, 32, DESC_INDIRECT, 0}, {0, 1, 0, 0}, F_INDIRECT},
    {"a loop in a table", {1, 16, DESC_INDIRECT, 0}, {0, 1, DESC_NEXT, 0}, F_INDIRECT},
    {"an index behind a table", {1, 16, DESC_INDIRECT, 0}, {0, 1, DESC_NEXT, 1}, F_INDIRECT},
    {"a table in itself", {1, 4096, DESC_INDIRECT, 0}, {1, 4096, DESC_INDIRECT, 0}, F_INDIRECT},
};

/* Small numbers are offsets in the table. */
static struct desc place(struct desc d, enum slot slot)
{
    if (d.address < sizeof(tables)) {
        d.address += (d.flags & DESC_INDIRECT) != 0 ? TABLE - 1U : SCRATCH;
    }
    d.flags |= slot == SLOT_RNG && (d.flags & DESC_INDIRECT) == 0 ? DESC_WRITE : 0;
    return d;
}

static void try_chain(struct verdict *v, enum slot slot, const struct chain_case *c)
{
    volatile struct desc *inner = tables;
    struct desc d = place(c->inner, slot);

    device_start(slot, c->features);
    describe(requests(slot), 0, place(c->first, slot));
    inner->address = d.address;
    inner->length = d.length;
    inner->flags = d.flags;
    inner->next = d.next;
    inner[1] = (struct desc){SCRATCH + 8U, 100, slot == SLOT_RNG ? DESC_WRITE : 0,
                             0}; /* behind a table of one descriptor */
    judge_refused(v, slot, c->what);
}

void virtio_chains(struct verdict *v, uint64_t arg)
{
    (void)arg;
    for (unsigned i = 0; i < SLOTS * LENGTH_OF(chains); i++) {
        if (is_virtio(i % SLOTS)) {
            try_chain(v, i % SLOTS, &chains[i / SLOTS]);
        }
    }
    judge_devices(v);
}

/* Offers a receive queue a chain of buffers of one byte before a longer one. */
static void receive_small(enum slot slot, unsigned pieces)
{
    volatile struct ring *ring = &rings[slot][0];

    for (uint16_t i = 0; i < pieces; i++) {
        bool last = i + 1U == pieces;
        uint16_t next = i + 1U;

        describe(ring, i,
                 (struct desc){SCRATCH + 2049U + i, last ? 1500U : 1U,
                               last ? DESC_WRITE : DESC_WRITE | DESC_NEXT, next});
    }
    offer(ring, 0);
}

static void try_small_receivers(struct verdict *v, unsigned pieces)
{
    device_start(SLOT_NET, 0);
    device_start(SLOT_SECOND, 0);
    receive_small(SLOT_SECOND, pieces);
    send_frame(SLOT_NET, &(struct frame){MAC_SECOND, MAC_OWN, 0x88b5, FRAME});
    judge(v, pieces > 5 || !device_failed(SLOT_SECOND), "a frame in %u pieces", pieces);
    device_start(SLOT_SOCKET, 0);
    receive_small(SLOT_SOCKET, pieces);
    send_to_itself(1000);
    judge(v, pieces > 1 || !device_failed(SLOT_SOCKET), "a packet in %u pieces", pieces);
}

/* Buffers of one byte, as many as a queue has: the most descriptors for each byte. They are no
 * violation, but may be too many for a device's limit. Received in such buffers, too. */
void virtio_small_buffers(struct verdict *v, uint64_t arg)
{
    (void)arg;
    for (unsigned pieces = 1; pieces < 28; pieces++) {
        try_small_receivers(v, pieces);
    }
    for (unsigned pieces = 2; pieces < 48; pieces++) {
        for (enum slot slot = 0; slot < SLOTS; slot++) {
            if (is_virtio(slot) &&
                (pieces <= 16 || (slot != SLOT_DISK && slot != SLOT_LINE && slot != SLOT_RNG))) {
                device_start(slot, 0);
                request(slot, pieces);
                judge(v, pieces > 5 || !device_failed(slot), "function %u refuses %u pieces", slot,
                      pieces);
            }
        }
    }
    judge_devices(v);
}

/* --- indexes --- */

/* More chains than the queue has entries, in both directions; heads that do not exist. */
void virtio_indexes(struct verdict *v, uint64_t arg)
{
    static const uint16_t jumps[] = {ENTRIES + 1, 0x7fff, 0x8000, 0xffff};
    static const uint16_t heads[] = {ENTRIES, 0x8000, 0xffff};

    (void)arg;
    for (enum slot slot = 0; slot < SLOTS; slot++) {
        for (unsigned i = 0; is_virtio(slot) && i < LENGTH_OF(jumps); i++) {
            device_start(slot, 0);
            describe(requests(slot), 0,
                     /* a right one */
                     (struct desc){SCRATCH, 64, slot == SLOT_RNG ? DESC_WRITE : 0, 0});
            /* judge_refused() adds 1 */
            requests(slot)->avail.index = (uint16_t)(jumps[i] - 1U);
            judge_refused(v, slot, "a jump of the index");
        }
        for (unsigned i = 0; is_virtio(slot) && i < LENGTH_OF(heads); i++) {
            device_start(slot, 0);
            requests(slot)->avail.ring[0] = heads[i];
            requests(slot)->avail.index = 1;
            device_notify(slot, requests_of(slot));
            judge(v, device_failed(slot), "function %u takes head %u", slot, heads[i]);
        }
    }
    judge_devices(v);
}

/* --- descriptors that change --- */

static volatile bool tearing;

/* Changes length and address of descriptor 0 between right and wrong values. */
static void tear(unsigned long hart, void *argument)
{
    volatile struct desc *d = requests(SLOT_RNG)->desc;

    (void)hart;
    (void)argument;
    while (!changes_over) {
        d->length = tearing ? 0x100000 : 16;
        d->length = 16;
        d->address = tearing ? REAL_WITNESS : RAM_END - 16;
        d->address = RAM_END - 16;
    }
}

/* A device either refuses the descriptor or uses what it has checked: 16 bytes up to the RAM's
 * end. */
void virtio_torn(struct verdict *v, uint64_t arg)
{
    unsigned good = 0, bad = 0;

    (void)arg;
    begin_changes(v, tear);
    for (uint64_t from = csr_read_time();
         attack_goes_on(from, TORN_TIME, good + bad >= TORN_MIN);) {
        tearing = false;
        device_start(SLOT_RNG, 0);
        describe(requests(SLOT_RNG), 0, (struct desc){RAM_END - 16, 16, DESC_WRITE, 0});
        tearing = true;
        for (unsigned i = 0; i < ENTRIES && !device_failed(SLOT_RNG); i++) {
            offer(requests(SLOT_RNG), 0);
            device_notify(SLOT_RNG, 0);
        }
        for (unsigned i = 0; i < used(requests(SLOT_RNG)); i++) {
            judge(v, requests(SLOT_RNG)->used.ring[i].length == 16, "%u bytes",
                  requests(SLOT_RNG)->used.ring[i].length);
            good++;
        }
        bad += device_failed(SLOT_RNG) ? 1U : 0U;
    }
    end_changes();
    judge(v, good + bad >= TORN_MIN, "%u done, %u refused", good, bad);
    judge_devices(v);
}

/* --- notifications, status --- */

/* All numbers, of queues that exist and others: before DRIVER_OK, after a failure, after a
 * reset. */
static void notify_all(enum slot slot)
{
    for (unsigned number = 0; number < 0x10000U; number += number < 64 ? 1 : 997) {
        device_notify(slot, number);
    }
    *reg8(slot, NOTIFY) = (uint8_t)requests_of(slot);
    *reg32(slot, NOTIFY) = requests_of(slot);
    *reg32(slot, NOTIFY + 8U) = requests_of(slot);
}

static void try_notifications(struct verdict *v, enum slot slot)
{
    volatile struct ring *ring = requests(slot);

    device_begin(slot, 0);
    device_queue(slot, requests_of(slot));
    request(slot, 1);
    notify_all(slot);
    judge(v, used(ring) == 0, "function %u works before DRIVER_OK", slot);
    device_start(slot, 0);
    describe(ring, 0, (struct desc){0, 1, 0, 0});
    judge_refused(v, slot, "a buffer at 0");
    ring->avail.index = 0;
    request(slot, 1);
    notify_all(slot);
    *reg8(slot, STATUS) = 0x7f; /* all bits of a driver */
    notify_all(slot);
    judge(v, used(ring) == 0, "function %u works before its reset", slot);
    *reg8(slot, STATUS) = 0;
    notify_all(slot);
    judge(v, used(ring) == 0, "function %u works after its reset", slot);
}

void virtio_notifications(struct verdict *v, uint64_t arg)
{
    (void)arg;
    for (enum slot slot = 0; slot < SLOTS; slot++) {
        if (is_virtio(slot)) {
            try_notifications(v, slot);
        } else {
            notify_all(slot);
        }
    }
    judge_devices(v);
}

/* A queue that is enabled keeps its registers, whatever the status; features cannot be added. */
static void try_changes(struct verdict *v, enum slot slot)
{
    device_start(slot, 0);
    *reg16(slot, QUEUE) = (uint16_t)requests_of(slot);
    for (unsigned area = 0; area < 3; area++) {
        uint32_t before = *reg32(slot, QUEUE_ADDRESS + 8U * area);

        *reg32(slot, QUEUE_ADDRESS + 8U * area) = (uint32_t)REAL_WITNESS;
        judge(v, *reg32(slot, QUEUE_ADDRESS + 8U * area) == before, "area %u of function %u moves",
              area, slot);
    }
    *reg16(slot, QUEUE_SIZE) = 1;
    *reg16(slot, QUEUE_ENABLE) = 0;
    judge(v, *reg16(slot, QUEUE_SIZE) == ENTRIES && *reg16(slot, QUEUE_ENABLE) == 1,
          "a queue changes");
    *reg32(slot, DRIVER_SELECT) = 0;
    *reg32(slot, DRIVER_FEATURES) = UINT32_MAX;
    judge(v, *reg32(slot, DRIVER_FEATURES) == 0, "features change");
    *reg8(slot, STATUS) = 1; /* takes no bit away */
    judge(v, *reg8(slot, STATUS) == (STATUS_DRIVER | STATUS_FEATURES_OK | STATUS_DRIVER_OK),
          "the status changes");
    device_begin(slot, ALL);
    judge(v, (*reg8(slot, STATUS) & STATUS_FEATURES_OK) == 0, "function %u accepts any feature",
          slot);
    *reg8(slot, STATUS) = STATUS_DRIVER | STATUS_DRIVER_OK;
    judge(v, (*reg8(slot, STATUS) & STATUS_DRIVER_OK) == 0, "function %u works without features",
          slot);
}

void virtio_status(struct verdict *v, uint64_t arg)
{
    (void)arg;
    for (enum slot slot = 0; slot < SLOTS; slot++) {
        if (is_virtio(slot)) {
            try_changes(v, slot);
        }
    }
    judge_devices(v);
}
