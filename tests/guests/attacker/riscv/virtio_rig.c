/* SPDX-License-Identifier: Apache-2.0 */
/* The common part of the attacks on virtual PCI functions: a driver that trusts nothing to be
 * right, and makes most of it wrong. */
#include "attacker_virtio.h"

#define VM_TYPE 0x88b5U /* local experimental EtherType */
/* a loaded host may run a hart seldom: an attack goes on for up to so many times its time */
#define SLOWEST 40U
/* With the work of other VMs on a loaded host. Less than the 10 s after which the victim gives a
 * request up. */
#define PATIENCE (5000UL * MS)

volatile bool changes_over;
volatile unsigned changes;

volatile struct ring rings[FUNCTIONS][3];
volatile uint8_t scratch[4096] __attribute__((aligned(4096)));

static void clear(volatile void *start, size_t bytes)
{
    volatile uint64_t *words = start;

    for (size_t i = 0; i < bytes / sizeof(*words); i++) {
        words[i] = 0;
    }
}

void function_enable(unsigned slot)
{
    *(volatile uint16_t *)(ECAM + (uint64_t)slot * 0x8000U + 4U) = 6; /* memory, bus master */
}

void device_begin(unsigned slot, uint64_t features)
{
    features |= F_VERSION_1;
    function_enable(slot);
    *reg8(slot, STATUS) = 0;
    *reg8(slot, STATUS) = STATUS_DRIVER;
    for (uint32_t half = 0; half < 2; half++) {
        *reg32(slot, DRIVER_SELECT) = half;
        *reg32(slot, DRIVER_FEATURES) = (uint32_t)(features >> 32U * half);
    }
    *reg8(slot, STATUS) = STATUS_DRIVER | STATUS_FEATURES_OK;
}

static void write_address(unsigned slot, unsigned area, uint64_t address)
{
    *reg32(slot, QUEUE_ADDRESS + 8U * area) = (uint32_t)address;
    *reg32(slot, QUEUE_ADDRESS + 8U * area + 4U) = (uint32_t)(address >> 32);
}

void device_queue(unsigned slot, unsigned number)
{
    volatile struct ring *ring = &rings[slot][number];

    clear(ring, sizeof(*ring));
    *reg16(slot, QUEUE) = (uint16_t)number;
    *reg16(slot, QUEUE_SIZE) = ENTRIES;
    write_address(slot, 0, (uintptr_t)ring->desc);
    write_address(slot, 1, (uintptr_t)&ring->avail);
    write_address(slot, 2, (uintptr_t)&ring->used);
    *reg16(slot, QUEUE_ENABLE) = 1;
}

void device_start(unsigned slot, uint64_t features)
{
    device_begin(slot, features);
    for (unsigned number = 0; number < *reg16(slot, QUEUES); number++) {
        device_queue(slot, number);
    }
    *reg8(slot, STATUS) = STATUS_DRIVER | STATUS_FEATURES_OK | STATUS_DRIVER_OK;
}

bool device_failed(unsigned slot)
{
    return (*reg8(slot, STATUS) & STATUS_NEEDS_RESET) != 0;
}

void describe(volatile struct ring *ring, unsigned index, struct desc desc)
{
    ring->desc[index].address = desc.address;
    ring->desc[index].length = desc.length;
    ring->desc[index].flags = desc.flags;
    ring->desc[index].next = desc.next;
}

void offer(volatile struct ring *ring, uint16_t head)
{
    ring->avail.ring[ring->avail.index % ENTRIES] = head;
    __asm__ volatile("fence" ::: "memory");
    ring->avail.index++;
}

void post(unsigned slot, struct desc desc)
{
    volatile struct ring *ring = &rings[slot][0];
    uint16_t index = ring->avail.index % ENTRIES;

    describe(ring, index, desc);
    offer(ring, index);
    device_notify(slot, 0);
}

void begin_changes(struct verdict *v, void (*change)(unsigned long hart, void *argument))
{
    changes_over = false;
    changes = 0;
    judge(v, second_hart(change), "the second hart does not start");
}

void end_changes(void)
{
    changes_over = true;
    second_hart_ended();
}

bool attack_goes_on(uint64_t from, uint64_t time, bool enough)
{
    return csr_read_time() - from < (enough ? time : SLOWEST * time);
}

bool await_used(unsigned slot, unsigned number, uint16_t count)
{
    uint64_t end = csr_read_time() + PATIENCE;

    while (used(&rings[slot][number]) != count && !device_failed(slot) && csr_read_time() < end) {
    }
    return used(&rings[slot][number]) == count;
}

bool await_failure(unsigned slot)
{
    uint64_t end = csr_read_time() + PATIENCE;

    while (!device_failed(slot) && csr_read_time() < end) {
    }
    return device_failed(slot);
}

/* --- requests that are right --- */

static void write_mac(volatile uint8_t *place, uint64_t mac)
{
    for (unsigned i = 0; i < 6; i++) {
        place[i] = (uint8_t)(mac >> (40U - 8U * i));
    }
}

static void write_frame(const struct frame *frame)
{
    clear(scratch, FRAME_HEADER + 4U);
    write_mac(scratch + FRAME_HEADER, frame->destination);
    write_mac(scratch + FRAME_HEADER + 6U, frame->source);
    scratch[FRAME_HEADER + 12U] = (uint8_t)(frame->type >> 8);
    scratch[FRAME_HEADER + 13U] = (uint8_t)frame->type;
}

void send_frame(enum slot slot, const struct frame *frame)
{
    volatile struct ring *ring = requests(slot);

    write_frame(frame);
    describe(ring, 0, (struct desc){.address = SCRATCH, .length = FRAME_HEADER + frame->length});
    offer(ring, 0);
    device_notify(slot, 1);
}

void send_to_itself(uint32_t length)
{
    struct packet *packet = (void *)(uintptr_t)scratch;

    *packet = (struct packet){
        .source = CID_OWN, .destination = CID_OWN, .length = length, .type = 1, .op = OP_DATA};
    describe(requests(SLOT_SOCKET), 0, (struct desc){SCRATCH, PACKET_HEADER + length, 0, 0});
    offer(requests(SLOT_SOCKET), 0);
    device_notify(SLOT_SOCKET, 1);
}

/* Writes the request's first buffer. Returns its length. */
static uint32_t write_request(enum slot slot)
{
    struct packet *packet = (void *)(uintptr_t)scratch;

    clear(scratch, 64);
    if (slot == SLOT_SOCKET) {
        *packet = (struct packet){.source = CID_OWN, .destination = 99, .type = 1, .op = OP_RESET};
        return PACKET_HEADER;
    }
    if (slot == SLOT_NET || slot == SLOT_SECOND) {
        write_frame(
            &(struct frame){MAC_NOBODY, slot == SLOT_NET ? MAC_OWN : MAC_SECOND, VM_TYPE, 60});
        return FRAME_HEADER + 60U;
    }
    return 16; /* a disk's head: read sector 0; random bytes; bytes of a line */
}

void request(enum slot slot, unsigned pieces)
{
    volatile struct ring *ring = requests(slot);
    uint16_t flags = slot == SLOT_RNG ? DESC_WRITE : 0, more = slot == SLOT_DISK ? 1U : 0U;
    uint32_t length = write_request(slot);

    for (unsigned i = 0; i < pieces; i++) {
        uint32_t bytes = i + 1U < pieces ? 1U : length - i;
        bool last = i + 1U == pieces && more == 0;

        describe(ring, i,
                 (struct desc){SCRATCH + i, bytes, flags | (last ? 0 : DESC_NEXT),
                               (uint16_t)(last ? 0 : i + 1U)});
    }
    if (more != 0) { /* a sector and the status */
        describe(ring, pieces, (struct desc){SCRATCH + 1024, 513, DESC_WRITE, 0});
    }
    offer(ring, 0);
    device_notify(slot, requests_of(slot));
}

/* --- judgement --- */

void judge_refused(struct verdict *v, enum slot slot, const char *what)
{
    volatile struct ring *ring = requests(slot);

    offer(ring, 0);
    device_notify(slot, requests_of(slot));
    /* Bytes of a line before the wrong descriptor may wait for the other end. */
    judge(v, device_failed(slot) || (slot == SLOT_LINE && used(ring) == 0),
          "function %u accepts %s", slot, what);
}

void judge_device(struct verdict *v, enum slot slot)
{
    if (!is_virtio(slot)) {
        function_enable(slot);
        judge(v, *reg32(slot, 8) == VM_ATTACKER, "ivshmem does not answer");
        return;
    }
    device_start(slot, 0);
    request(slot, 1);
    judge(v, !device_failed(slot), "function %u fails", slot);
    /* Bytes of a line wait for the other end. */
    judge(v, slot == SLOT_LINE || used(requests(slot)) == 1, "function %u does not work", slot);
    judge(v, slot != SLOT_DISK || scratch[1024 + 512] == 0, "the disk reports %u",
          scratch[1024 + 512]);
}

void judge_devices(struct verdict *v)
{
    for (enum slot slot = 0; slot < SLOTS; slot++) {
        judge_device(v, slot);
    }
}
