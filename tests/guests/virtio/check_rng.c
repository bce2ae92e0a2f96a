/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the driver of virtio entropy devices (virtio_test.h): the bytes differ, and no interrupt is
 * lost. Owns the device. */
#include <string.h>

#include "plic.h"
#include "print.h"
#include "virtio_rng.h"
#include "virtio_test.h"

#define BYTES 256U
#define DRAWS 8U

static struct virtio_rng rng;

/* Bytes in `data` whose value is a new one. 256 random bytes have 162 different values on average,
 * and never less than 64. */
static unsigned int different(const uint8_t *data)
{
    uint8_t seen[256] = {0};
    unsigned int count = 0;

    for (unsigned int i = 0; i < BYTES; i++) {
        count += seen[data[i]] == 0 ? 1U : 0U;
        seen[data[i]] = 1;
    }
    return count;
}

static void check_draws(void)
{
    static uint8_t data[BYTES], before[BYTES];

    for (unsigned int i = 0; i < DRAWS; i++) {
        memcpy(before, data, BYTES);
        must(virtio_rng_read(&rng, data, BYTES) == VIRTIO_OK, "draw");
        must(different(data) >= 64, "random bytes differ");
        must(memcmp(before, data, BYTES) != 0, "two draws differ");
    }
}

/* Lets the device interrupt: when its answer can be seen, it has raised its interrupt, or does so
 * before the next access to the PLIC. */
static void interrupt(void)
{
    static uint8_t data;
    uint32_t bytes;

    virtqueue_interrupt(&rng.queue, true);
    must(virtqueue_add(&rng.queue, &(struct virtqueue_part){&data, 1, true}, 1) >= 0,
         "request an interrupt");
    virtqueue_notify(&rng.queue);
    while (!virtqueue_used(&rng.queue)) {
    }
    must(virtqueue_take(&rng.queue, &bytes) >= 0, "take an interrupt's request");
}

static void lower(void *again)
{
    (void)virtio_isr(&rng.device);
    if (*(bool *)again) {
        interrupt();
    }
}

/* Neither an interrupt that comes before its source is enabled, nor one that comes while another is
 * handled, is lost. */
static void check_interrupts(struct test *test)
{
    bool again = true;

    interrupt();
    plic_wait(rng.device.irq, test->hart, lower, &again);
    must(plic_pending(rng.device.irq), "an interrupt that came during another is pending");
    again = false;
    lower(&again);
}

unsigned int check_rng(struct test *test)
{
    unsigned int number = 0;
    int result = virtio_rng_open(&rng, &test->bus, number);

    while (result == VIRTIO_OK) {
        check_interrupts(test); /* the first one: it enables the source */
        check_draws();
        virtio_sleep_on(&rng.device, test->hart);
        check_draws();
        virtio_reset(&rng.device);
        print("virtio: rng %u tested\n", number);
        number++;
        result = virtio_rng_open(&rng, &test->bus, number);
    }
    must(result == VIRTIO_NO_DEVICE, "open");
    return number;
}
