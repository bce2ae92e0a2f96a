/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes numbered blocks to its disk without end, some between two flushes, and says up to which
 * number all are flushed. The host ends the machine at any time and checks the disk
 * (tests/e2e/test_storage.py). Block n is at sector n % SPAN: its number, then bytes that follow
 * from it.
 */
#include "print.h"
#include "random.h"
#include "timer.h"
#include "uart.h"
#include "virtio_blk.h"

#define SPAN 1000U       /* sectors in use */
#define BETWEEN_MOST 10U /* blocks between two flushes */

int main(unsigned long hart, const void *fdt);

static struct virtio_blk disk;
static uint64_t block[VIRTIO_BLK_SECTOR / sizeof(uint64_t)];

static int write_block(uint64_t number)
{
    struct random numbers = random_from(number);

    block[0] = number;
    for (unsigned int i = 1; i < sizeof(block) / sizeof(block[0]); i++) {
        block[i] = random_next(&numbers);
    }
    return virtio_blk_write(&disk, number % SPAN, block, 1);
}

int main(unsigned long hart, const void *fdt)
{
    static struct pci_bus bus;
    struct random source = random_from(1);
    uint64_t number = 0;
    int result;

    (void)hart;
    uart_init();
    (void)timer_init();
    result = pci_open(&bus, fdt) ? virtio_blk_open(&disk, &bus, 0) : VIRTIO_NO_DEVICE;
    print("power_fail: ready\n");
    while (result == VIRTIO_OK) {
        uint64_t end = number + 1U + random_below(&source, BETWEEN_MOST);

        while (result == VIRTIO_OK && number < end) {
            result = write_block(++number);
        }
        if (result == VIRTIO_OK) {
            result = virtio_blk_flush(&disk);
        }
        if (result == VIRTIO_OK) {
            print("power_fail: flushed %llu\n", (unsigned long long)number);
        }
    }
    print("power_fail: error %d\n", result);
    return 1;
}
