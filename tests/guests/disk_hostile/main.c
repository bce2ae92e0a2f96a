/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hostile disk server: answers what nobody has asked, answers twice, with too much data, too
 * little or none, offers buffers anywhere, writes its rings and registers at random, and resets its
 * device at any time. Some requests it fails, as it should. Boot argument: `seed=`.
 */
#include <string.h>

#include "disk_server.h"
#include "fdt.h"
#include "machine.h"
#include "print.h"
#include "random.h"
#include "timer.h"
#include "uart.h"

#define REPORT 2000U /* rounds */
#define DISKS 4U
#define NUMBERS 64U

int main(unsigned long hart, const void *fdt);

static struct disk_server server;
static struct pci_bus bus;
static struct random source;
static uint8_t rubbish[2U * DISK_PIECE];

static uint64_t below(uint64_t n)
{
    return random_below(&source, n);
}

static void open_again(void)
{
    if (disk_server_open(&server, &bus) != VIRTIO_OK) {
        print("disk_hostile: wrong: the device does not open\n");
    }
}

static void notify(uint16_t queue)
{
    *(volatile uint16_t *)server.device.notify.start = queue;
}

/* Gives an answer with `bytes` of data, and does not wait for it. */
static void answer(struct disk_answer fields, uint32_t bytes, bool writable)
{
    struct virtqueue_part parts[2] = {{&server.answer, sizeof(server.answer), false},
                                      {rubbish, bytes, writable}};
    uint32_t written;

    server.answer = fields;
    if (virtqueue_add(&server.answers, parts, bytes != 0 ? 2 : 1) >= 0) {
        virtqueue_notify(&server.answers);
    }
    (void)virtqueue_take(&server.answers, &written);
}

static void answer_anything(void)
{
    const struct disk_answer fields = {.disk = (uint32_t)below(DISKS),
                                       .number = (uint32_t)below(NUMBERS),
                                       .status = (uint32_t)below(2)};

    answer(fields, (uint32_t)below(sizeof(rubbish)), below(8) == 0);
}

/* Answers the request that waits, not at all or up to three times, with any data. */
static void answer_request(void)
{
    struct disk_request request;

    if (disk_server_next(&server, &request) != NULL) {
        for (uint64_t i = below(4); i > 0; i--) {
            answer((struct disk_answer){request.disk, request.number, (uint32_t)below(2), 0},
                   (uint32_t)below(sizeof(rubbish)), false);
        }
    }
}

static void serve_request(void)
{
    struct disk_request request;

    if (disk_server_next(&server, &request) != NULL) {
        answer((struct disk_answer){request.disk, request.number, DISK_OK, 0},
               request.type == DISK_READ ? request.bytes : 0, false);
    }
}

/* Anywhere in the guest's address space, of any size. */
static void offer_anything(void)
{
    struct virtqueue_part part = {(void *)(uintptr_t)(random_next(&source) >> below(64)),
                                  (uint32_t)below(40000), true};

    (void)virtqueue_add(&server.requests, &part, 1);
    virtqueue_notify(&server.requests);
}

static void write_ring(void)
{
    struct virtqueue *queue = below(2) == 0 ? &server.requests : &server.answers;
    volatile uint8_t *rings = (volatile uint8_t *)queue;

    for (uint64_t i = below(20); i > 0; i--) {
        rings[below(2048)] = (uint8_t)random_next(&source);
    }
    queue->available.index = (uint16_t)(queue->available.index + below(4));
    notify((uint16_t)below(3));
}

static void write_register(void)
{
    *(volatile uint32_t *)(server.device.common.start + 4U * below(14)) =
        (uint32_t)random_next(&source);
}

int main(unsigned long hart, const void *fdt)
{
    static void (*const deeds[])(void) = {answer_anything, answer_request, answer_request,
                                          serve_request,   serve_request,  offer_anything,
                                          write_ring,      write_register};

    (void)hart;
    uart_init();
    (void)timer_init();
    source = random_from(fdt_bootarg_number(fdt, "seed", 1));
    memset(rubbish, 0xee, sizeof(rubbish));
    if (!pci_open(&bus, fdt)) {
        return 1;
    }
    open_again();
    print("disk_hostile: ready\n");
    for (unsigned long round = 1;; round++) {
        deeds[below(sizeof(deeds) / sizeof(deeds[0]))]();
        if (below(16) == 0 || virtio_failed(&server.device)) {
            open_again();
        }
        if (round % REPORT == 0) {
            print("disk_hostile: %lu rounds\n", round);
        }
    }
}
