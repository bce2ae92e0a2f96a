/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uses a disk whose server is hostile: requests may fail or wait, but nothing else in its memory
 * changes than the buffers of requests, and the disk keeps the protocol. A request that is not
 * answered in time is given up by a reset. Each round prints a line.
 */
#include <string.h>

#include "print.h"
#include "random.h"
#include "timer.h"
#include "uart.h"
#include "virtio_blk.h"

#define GUARD 4096U
#define BYTES 70000U /* of a request, at most: several pieces */
#define REPORT 20U   /* requests */
#define PATTERN 0x5aU

int main(unsigned long hart, const void *fdt);

/* The buffer, between memory that must not change. */
static struct {
    uint8_t before[GUARD];
    uint8_t data[BYTES / VIRTIO_BLK_SECTOR * VIRTIO_BLK_SECTOR];
    uint8_t behind[GUARD];
} memory;

static struct virtio_blk disk;
static unsigned long done, failed, given_up;

static bool untouched(const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] != PATTERN) {
            return false;
        }
    }
    return true;
}

/* A read may change the buffer only up to its length; a write nothing. */
static bool is_right(bool writes, uint32_t bytes)
{
    size_t allowed = writes ? 0 : bytes;

    return untouched(memory.before, GUARD) &&
           untouched(memory.data + allowed, sizeof(memory.data) - allowed) &&
           untouched(memory.behind, GUARD);
}

static int request(struct random *source, bool writes, uint32_t sectors)
{
    uint64_t sector = random_below(source, disk.sectors - sectors);

    if (random_below(source, 8) == 0) {
        return virtio_blk_flush(&disk);
    }
    return writes ? virtio_blk_write(&disk, sector, memory.data, sectors)
                  : virtio_blk_read(&disk, sector, memory.data, sectors);
}

static bool step(struct random *source, struct pci_bus *bus)
{
    bool writes = random_below(source, 2) == 0;
    uint32_t sectors =
        1U + (uint32_t)random_below(source, sizeof(memory.data) / VIRTIO_BLK_SECTOR - 1U);
    int result;

    memset(&memory, PATTERN, sizeof(memory));
    result = request(source, writes, sectors);
    done += result == VIRTIO_OK;
    failed += result == VIRTIO_FAILED;
    if (!is_right(writes, sectors * VIRTIO_BLK_SECTOR)) {
        print("disk_victim: wrong: memory outside of the buffer has changed\n");
        return false;
    }
    if (result == VIRTIO_BROKEN) { /* not in time: reset, which forgets the request */
        given_up++;
        if (virtio_failed(&disk.device) || virtio_blk_open(&disk, bus, 0) != VIRTIO_OK) {
            print("disk_victim: wrong: the disk has failed\n");
            return false;
        }
    }
    return true;
}

int main(unsigned long hart, const void *fdt)
{
    static struct pci_bus bus;
    struct random source = random_from(7);

    uart_init();
    (void)timer_init();
    if (!pci_open(&bus, fdt) || virtio_blk_open(&disk, &bus, 0) != VIRTIO_OK) {
        print("disk_victim: wrong: no disk\n");
        return 1;
    }
    virtio_sleep_on(&disk.device, hart);
    print("disk_victim: ready\n");
    for (unsigned long count = 1; step(&source, &bus); count++) {
        if (count % REPORT == 0) {
            print("disk_victim: %lu done, %lu failed, %lu given up\n", done, failed, given_up);
        }
    }
    return 1;
}
