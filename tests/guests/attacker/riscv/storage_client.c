/* SPDX-License-Identifier: Apache-2.0 */
/* The driver of a disk that another VM serves: wrong requests, buffers that change, resets while
 * the server has a request. */
#include "attacker_storage.h"

#define TYPE_READ 0U
#define TYPE_WRITE 1U
#define DISK_OK 0U
#define LENGTH 0x4000U /* of a request: a server's piece */
#define SECTORS (LENGTH / 512U)
#define RESETS 12U
#define TORN_TIME (100UL * MS)
#define GIVE_UP_TIME (10UL * MS)
#define PATTERN 0x5aU
#define RING (&rings[SLOT_SERVED][0])
#define DATA ((uint64_t)(uintptr_t)data)

static volatile uint8_t data[LENGTH] __attribute__((aligned(4096)));

/* Offers a head, the data in two buffers and a status. */
static void offer_request(uint32_t type, uint64_t sector)
{
    uint16_t flags = DESC_NEXT | (type == TYPE_READ ? DESC_WRITE : 0);

    *(volatile uint32_t *)(uintptr_t)SCRATCH = type;
    *(volatile uint64_t *)(uintptr_t)(SCRATCH + 8U) = sector;
    scratch[16] = UNTOUCHED;
    describe(RING, 0, (struct desc){SCRATCH, 16, DESC_NEXT, 1});
    describe(RING, 1, (struct desc){DATA, LENGTH / 2U, flags, 2});
    describe(RING, 2, (struct desc){DATA + LENGTH / 2U, LENGTH / 2U, flags, 3});
    describe(RING, 3, (struct desc){SCRATCH + 16, 1, DESC_WRITE, 0});
    offer(RING, 0);
}

/* The disk returns the request with DISK_OK. */
static bool is_done(void)
{
    uint16_t count = (uint16_t)(used(RING) + 1U);

    device_notify(SLOT_SERVED, 0);
    return await_used(SLOT_SERVED, 0, count) && scratch[16] == DISK_OK;
}

static void fill_data(uint8_t value)
{
    for (unsigned i = 0; i < LENGTH; i++) {
        data[i] = value;
    }
}

static bool has_data(uint8_t value)
{
    unsigned same = 0;

    while (same < LENGTH && data[same] == value) {
        same++;
    }
    return same == LENGTH;
}

void judge_served(struct verdict *v)
{
    uint8_t value = (uint8_t)(PATTERN + v->tried);

    device_start(SLOT_SERVED, 0);
    fill_data(value);
    offer_request(TYPE_WRITE, DISK_SECTORS - SECTORS);
    judge(v, is_done(), "the served disk does not write: status %u", scratch[16]);
    fill_data((uint8_t)~value);
    offer_request(TYPE_READ, DISK_SECTORS - SECTORS);
    judge(v, is_done() && has_data(value),
          "the served disk does not read what was written: status %u", scratch[16]);
}

void storage_client_requests(struct verdict *v, uint64_t arg)
{
    (void)arg;
    device_start(SLOT_SERVED, 0);
    judge_disk(v, SLOT_SERVED);
    judge_disk_chains(v, SLOT_SERVED);
    judge_storage(v);
}

/* --- chains --- */

/* The descriptor in place of one of the data's; an address of 0: the data's. */
static const struct desc wrong_data[] = {
    {REAL_WITNESS, LENGTH / 2U, DESC_NEXT | DESC_WRITE, 3},
    {REAL_OWN, LENGTH / 2U, DESC_NEXT | DESC_WRITE, 3},
    {PLATFORM_UART_BASE, LENGTH / 2U, DESC_NEXT | DESC_WRITE, 3},
    {RAM_END - 16, LENGTH / 2U, DESC_NEXT | DESC_WRITE, 3},
    {0, 0, DESC_NEXT | DESC_WRITE, 3},
    {0, 0xffffff00, DESC_NEXT | DESC_WRITE, 3},
    {0, 512, DESC_NEXT | DESC_WRITE, ENTRIES},
    {0, 512, DESC_NEXT | DESC_WRITE, 0xffff},
    {0, 512, DESC_NEXT | DESC_INDIRECT, 3},
};

/* The server may have a piece of the request by the time that the disk finds what is wrong. */
void storage_client_chains(struct verdict *v, uint64_t arg)
{
    (void)arg;
    for (unsigned i = 0; i < 4 * LENGTH_OF(wrong_data); i++) {
        struct desc d = wrong_data[i / 4];

        d.address += d.address == 0 ? DATA : 0;
        d.flags &= i % 2U == TYPE_READ ? 0xffffU : (uint16_t)~DESC_WRITE;
        device_start(SLOT_SERVED, 0);
        offer_request(i % 2U, 0);
        describe(RING, 1U + (i >> 1 & 1U), d);
        device_notify(SLOT_SERVED, 0);
        judge(v, await_failure(SLOT_SERVED), "chain %u, with a wrong descriptor %u, is used", i / 4,
              1U + (i >> 1 & 1U));
    }
    judge_storage(v);
}

/* --- resets --- */

/* Resets the disk while its server has a request: nothing of the answer is written, and no earlier
 * write overtakes the next one. */
static void try_reset(struct verdict *v, uint64_t n)
{
    uint32_t type = n & 1U;

    device_start(SLOT_SERVED, 0);
    fill_data((uint8_t)n);
    offer_request(type, 0);
    device_notify(SLOT_SERVED, 0);
    spin((n >> 16) % (4UL * MS));
    *reg8(SLOT_SERVED, STATUS) = 0;
    fill_untouched(data, LENGTH);
    scratch[16] = UNTOUCHED;
    spin(6UL * MS); /* the server has answered */
    judge(v, is_untouched(data, LENGTH) && scratch[16] == UNTOUCHED, "written after reset %lu", n);
    device_start(SLOT_SERVED, 0);
    fill_data(PATTERN);
    offer_request(TYPE_WRITE, 0);
    judge(v, is_done(), "the next request ends with %u", scratch[16]);
    fill_data(0);
    offer_request(TYPE_READ, 0);
    judge(v, is_done() && has_data(PATTERN), "the disk has what was written before the reset");
}

void storage_client_resets(struct verdict *v, uint64_t arg)
{
    uint64_t state = 0x0123456789abcdefU;

    (void)arg;
    for (unsigned i = 0; i < RESETS; i++) {
        try_reset(v, random_next(&state));
    }
    judge_storage(v);
}

/* --- what changes while it is read --- */

static void tear_client(unsigned long hart, void *argument)
{
    uint64_t state = 0x1234567890abcdefU;

    (void)hart;
    (void)argument;
    while (!changes_over) {
        uint64_t n = random_next(&state);

        tear(&RING->desc[1U + (n >> 60 & 1U)], n, DATA);
        *(volatile uint32_t *)(uintptr_t)SCRATCH = (uint32_t)(n >> 20 & 7U); /* the type */
        changes++;
    }
}

static bool is_busy(void)
{
    return used(RING) == 0 && !device_failed(SLOT_SERVED);
}

/* The device refuses what it finds, or uses what it has checked. A loop of buffers is a request of
 * up to 64 pieces, and given up. */
void storage_client_torn(struct verdict *v, uint64_t arg)
{
    unsigned done = 0, failures = 0, given_up = 0;
    uint64_t state = 0x0123456789abcdefU;

    (void)arg;
    device_start(SLOT_SERVED, F_INDIRECT);
    begin_changes(v, tear_client);
    for (uint64_t from = csr_read_time();
         attack_goes_on(from, TORN_TIME, changed_beside(done + failures)); v->tried++) {
        uint64_t n = random_next(&state);

        offer_request((uint32_t)(n & 1U), n >> 8 & 63U);
        if ((n >> 1 & 1U) != 0) {
            tear(&RING->desc[1U + (n >> 2 & 1U)], n >> 16, DATA);
        }
        device_notify(SLOT_SERVED, 0);
        for (uint64_t sent = csr_read_time(); is_busy() && csr_read_time() - sent < GIVE_UP_TIME;) {
        }
        done += used(RING);
        failures += device_failed(SLOT_SERVED) ? 1U : 0U;
        given_up += is_busy() ? 1U : 0U;
        device_start(SLOT_SERVED, F_INDIRECT);
    }
    end_changes();
    judge(v, changed_beside(done + failures), "%u changes, %u done, %u failures, %u given up",
          changes, done, failures, given_up);
    judge_storage(v);
}

void storage_random(struct verdict *v, uint64_t arg)
{
    (void)arg;
    write_randomly(v, STORAGE_SLOTS);
    judge_storage(v);
}
