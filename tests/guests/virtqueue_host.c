/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The SDK's virtqueue on the host, with the sanitizers, and a device that obeys the rules or, from
 * some point on, does not: it writes anything into the used ring. Exits with 0, or aborts at the
 * first error. Usage: virtqueue_host runs
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "virtqueue.h"

#define STEPS 400U
#define NOT_TAKEN 0xffffU
#define F_NEXT 1U
#define F_WRITE 2U
#define OFFSET UINT64_C(0x7000000000000000) /* from an address of the driver to the device's */

static struct virtqueue queue;
static struct random numbers;
static uint16_t doorbell;      /* register of the device: this one */
static uint32_t wide_doorbell; /* or this one */
static uint8_t data[64];       /* of all buffers */

/* The device. */
static struct {
    uint16_t seen;                    /* available buffers */
    uint16_t held[VIRTQUEUE_ENTRIES]; /* buffers that it has not used yet */
    unsigned int count;
    bool obeys, notified; /* since it looked last */
} device;

/* The driver's knowledge of its buffers, by their numbers. */
static struct {
    bool given[VIRTQUEUE_ENTRIES];
    uint32_t writable[VIRTQUEUE_ENTRIES], written[VIRTQUEUE_ENTRIES];
    unsigned int parts[VIRTQUEUE_ENTRIES];
    unsigned int in_use; /* descriptors */
} driver;

static void must(bool holds, const char *what, long number)
{
    if (!holds) {
        fprintf(stderr, "virtqueue_host: wrong: %s (%ld)\n", what, number);
        abort();
    }
}

static uint16_t mask(void)
{
    return (uint16_t)(queue.size - 1U);
}

/* Reads a chain as a device does, and compares it with what the driver gave. */
static void read_chain(uint16_t head)
{
    uint32_t writable = 0;
    unsigned int parts = 1;

    for (uint16_t at = head;; at = queue.descriptors[at].next, parts++) {
        must(at < queue.size && parts <= VIRTQUEUE_PARTS, "a chain in the table", at);
        must(queue.descriptors[at].address == OFFSET + (uintptr_t)data, "the device's address", at);
        writable += (queue.descriptors[at].flags & F_WRITE) != 0 ? queue.descriptors[at].bytes : 0;
        if ((queue.descriptors[at].flags & F_NEXT) == 0) {
            break;
        }
    }
    must(parts == driver.parts[head] && writable == driver.writable[head],
         "the chain that was given", head);
}

static void device_take(void)
{
    device.notified = false;
    while (device.seen != queue.available.index) {
        uint16_t head = queue.available.ring[device.seen & mask()];

        must(driver.given[head], "a buffer that was given", head);
        read_chain(head);
        device.held[device.count++] = head;
        device.seen++;
    }
    queue.used.ring[queue.size].id = device.seen; /* avail_event: the next buffer */
}

static void device_use(void)
{
    unsigned int which;
    volatile struct virtqueue_used_entry *entry = &queue.used.ring[queue.used.index & mask()];

    if (device.count == 0) {
        return;
    }
    which = (unsigned int)random_below(&numbers, device.count);
    entry->id = device.held[which];
    driver.written[entry->id] =
        (uint32_t)random_below(&numbers, driver.writable[entry->id] + UINT64_C(1));
    entry->bytes = driver.written[entry->id];
    device.held[which] = device.held[--device.count];
    queue.used.index++;
}

static void device_misbehave(void)
{
    for (unsigned int i = 0; i <= queue.size; i++) {
        queue.used.ring[i].id = (uint32_t)random_below(&numbers, 2U * queue.size) *
                                (random_below(&numbers, 8) == 0 ? 997U : 1U);
        queue.used.ring[i].bytes = (uint32_t)random_next(&numbers);
    }
    queue.used.index = (uint16_t)(queue.used.index + random_below(&numbers, 4));
    queue.used.flags = (uint16_t)random_next(&numbers);
}

static void driver_add(void)
{
    struct virtqueue_part parts[VIRTQUEUE_PARTS];
    unsigned int count = 1U + (unsigned int)random_below(&numbers, VIRTQUEUE_PARTS);
    unsigned int readable = (unsigned int)random_below(&numbers, count + 1U);
    uint32_t writable = 0;
    int head;

    for (unsigned int i = 0; i < count; i++) {
        parts[i] = (struct virtqueue_part){
            data, 1U + (uint32_t)random_below(&numbers, sizeof(data)), i >= readable};
        writable += parts[i].writable ? parts[i].bytes : 0;
    }
    head = virtqueue_add(&queue, parts, count);
    if (head == VIRTIO_FULL) {
        must(driver.in_use + count > queue.size, "full", driver.in_use);
        return;
    }
    if (head == VIRTIO_BROKEN) {
        must(!device.obeys, "broken by a device that obeys", 0);
        return;
    }
    must(head >= 0 && head < queue.size && !driver.given[head], "a new buffer's number", head);
    driver.given[head] = true;
    driver.parts[head] = count;
    driver.writable[head] = writable;
    driver.in_use += count;
}

static void driver_notify(void)
{
    bool rung;

    doorbell = NOT_TAKEN;
    wide_doorbell = NOT_TAKEN;
    virtqueue_notify(&queue);
    rung = (queue.door.wide != NULL ? wide_doorbell : doorbell) == queue.door.number;
    must(doorbell == NOT_TAKEN || wide_doorbell == NOT_TAKEN, "one register", 0);
    must(!queue.event_idx || !device.notified || !device.obeys || !rung,
         "one notification is enough", 0);
    device.notified = device.notified || rung;
    if (device.obeys && device.seen != queue.added) {
        must(device.notified, "a notification of the buffers that the device has not seen",
             doorbell);
    }
}

static void driver_take(void)
{
    uint32_t bytes = 0;
    int head = virtqueue_take(&queue, &bytes);

    if (head < 0) {
        must(head == VIRTIO_FULL || !device.obeys, "broken by a device that obeys", head);
        return;
    }
    must(head < queue.size && driver.given[head], "a buffer that the device had", head);
    must(bytes <= driver.writable[head], "as much as the buffer has", bytes);
    must(!device.obeys || bytes == driver.written[head], "as much as the device wrote", bytes);
    driver.given[head] = false;
    driver.in_use -= driver.parts[head];
    must(queue.unused + driver.in_use == queue.size, "free descriptors", queue.unused);
}

static void step(void)
{
    switch (random_below(&numbers, 6)) {
    case 0:
    case 1:
        driver_add();
        break;
    case 2:
        driver_notify();
        break;
    case 3:
        driver_take();
        break;
    case 4:
        if (device.obeys) {
            device_take();
        }
        break;
    default:
        if (device.obeys) {
            device_use();
        } else {
            device_misbehave();
        }
        break;
    }
}

static void run(uint64_t seed)
{
    numbers = random_from(seed);
    memset(&device, 0, sizeof(device));
    memset(&driver, 0, sizeof(driver));
    device.obeys = true;
    virtqueue_init(&queue, (uint16_t)(1U << (2U + random_below(&numbers, 7))), seed % 2U == 0);
    queue.door = (struct virtqueue_door){
        .narrow = &doorbell, .wide = seed % 3U == 0 ? &wide_doorbell : NULL, .number = 3};
    queue.offset = OFFSET;
    for (unsigned int i = 0; i < STEPS; i++) {
        if (i == STEPS / 2U) {
            device.obeys = seed % 4U < 2U;
        }
        step();
    }
}

int main(int count, char **words)
{
    unsigned long runs = count == 2 ? strtoul(words[1], NULL, 10) : 0;

    must(runs > 0, "usage: virtqueue_host runs", 0);
    for (unsigned long seed = 0; seed < runs; seed++) {
        run(seed);
    }
    return 0;
}
