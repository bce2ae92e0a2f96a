/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maps blocks of bytes to symbols by an accelerator, with buffers in the memory that the VM has for
 * them, and compares each block with the software. Prints the number of good blocks after each of a
 * few.
 */
#include <string.h>

#include "accel_unit.h"
#include "dma.h"
#include "print.h"
#include "uart.h"

#define BYTES 64U
#define BLOCKS 4U

int main(unsigned long hart, const void *fdt);

/* What the device reads and writes. */
struct buffers {
    uint8_t bits[BYTES];
    int16_t symbols[ACCEL_QAM16_OUTPUT(BYTES) / 2U];
} __attribute__((aligned(8)));

static struct buffers ordinary;
static int16_t expected[ACCEL_QAM16_OUTPUT(BYTES) / 2U];

static void fill(struct buffers *b, unsigned int block)
{
    for (unsigned int i = 0; i < BYTES; i++) {
        b->bits[i] = (uint8_t)(37U * i + 11U * block);
    }
    memset(b->symbols, 0, sizeof b->symbols);
}

int main(unsigned long hart, const void *fdt)
{
    size_t bytes = 0;
    struct buffers *b = dma_memory(fdt, &bytes);
    struct accel_unit qam;
    unsigned int good = 0;

    uart_init();
    if (b == NULL || bytes < sizeof *b) {
        b = &ordinary;
    }
    accel_unit_open(&qam, "qam16", accel_soft_qam16);
    for (unsigned int block = 0; block < BLOCKS; block++) {
        struct accel_job job = {.size = BYTES, .input = b->bits, .output = b->symbols};
        struct accel_job check = {.size = BYTES, .input = b->bits, .output = expected};
        struct accel_result result;

        fill(b, block);
        result = accel_unit_run(&qam, &job, hart);
        (void)accel_soft_qam16(&check);
        good += result.fault == 0 && memcmp(b->symbols, expected, sizeof expected) == 0;
        print("dma: %s, %s: %u of %u blocks\n", b == &ordinary ? "all memory" : "memory for DMA",
              qam.on_device != 0 ? "device" : "software", good, block + 1U);
    }
    return good != BLOCKS;
}
