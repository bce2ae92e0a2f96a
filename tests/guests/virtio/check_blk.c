/* SPDX-License-Identifier: Apache-2.0 */
/* Overwrites parts of the disk: both ends and the middle. */
#include <string.h>

#include "print.h"
#include "random.h"
#include "virtio_blk.h"
#include "virtio_test.h"

#define SECTORS 64U /* of the longest request */
#define BYTES (SECTORS * VIRTIO_BLK_SECTOR)
#define UNTOUCHED 0xa5U

static struct virtio_blk disk;
static uint8_t wanted[BYTES], got[BYTES + 1U];

static void fill(uint64_t seed)
{
    struct random numbers = random_from(seed);

    for (unsigned int i = 0; i < BYTES; i++) {
        wanted[i] = (uint8_t)(random_next(&numbers) >> 40);
    }
}

static void check_content(uint64_t sector, uint32_t count)
{
    memset(got, UNTOUCHED, sizeof(got));
    must(virtio_blk_read(&disk, sector, got, count) == VIRTIO_OK, "read");
    must(memcmp(wanted, got, count * VIRTIO_BLK_SECTOR) == 0, "the data read");
    must(got[count * VIRTIO_BLK_SECTOR] == UNTOUCHED, "nothing beyond the data read");
}

static void check_written(uint64_t sector, uint32_t count)
{
    fill(sector ^ count);
    must(virtio_blk_write(&disk, sector, wanted, count) == VIRTIO_OK, "write");
    must(virtio_blk_flush(&disk) == VIRTIO_OK, "flush");
    check_content(sector, count);
}

static void check_places(void)
{
    static const uint32_t counts[] = {1, 7, SECTORS};

    for (unsigned int i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        check_written(0, counts[i]);
        check_written(disk.sectors / 2U, counts[i]);
        check_written(disk.sectors - counts[i], counts[i]);
    }
    fill(0U ^ SECTORS);
    check_content(0, SECTORS); /* the first of the places was not overwritten */
}

static void check_errors(void)
{
    must(virtio_blk_read(&disk, disk.sectors, got, 1) == VIRTIO_INVALID, "read behind the end");
    must(virtio_blk_read(&disk, disk.sectors - 1U, got, 2) == VIRTIO_INVALID,
         "read across the end");
    must(virtio_blk_read(&disk, UINT64_MAX, got, 1) == VIRTIO_INVALID,
         "read at a sector that wraps");
    must(virtio_blk_read(&disk, 0, got, 0) == VIRTIO_INVALID, "read of nothing");
    must(virtio_blk_write(&disk, disk.sectors, wanted, 1) == VIRTIO_INVALID,
         "write behind the end");
}

/* The device itself refuses what the driver does not let through. */
static void check_refusals(void)
{
    uint64_t sectors = disk.sectors;
    bool read_only = disk.read_only;

    disk.sectors = UINT64_MAX;
    must(virtio_blk_read(&disk, sectors, got, 1) == VIRTIO_FAILED,
         "the device refuses a read behind the end");
    disk.read_only = false;
    must(virtio_blk_write(&disk, sectors - 1U, wanted, 2) == VIRTIO_FAILED,
         "the device refuses a write across the end");
    disk.sectors = sectors;
    if (read_only) {
        must(virtio_blk_write(&disk, 0, wanted, 1) == VIRTIO_FAILED,
             "the device refuses a write to a read-only disk");
    }
    disk.read_only = read_only;
}

static void check_disk(void)
{
    if (disk.sectors < 4U * SECTORS) {
        must(false, "a disk of 256 sectors or more");
        return;
    }
    if (disk.read_only) {
        must(virtio_blk_write(&disk, 0, wanted, 1) == VIRTIO_INVALID, "write to a read-only disk");
        must(virtio_blk_read(&disk, 0, wanted, SECTORS) == VIRTIO_OK, "read");
        check_content(0, SECTORS);
    } else {
        check_places();
    }
    check_errors();
    check_refusals();
}

unsigned int check_blk(struct test *test)
{
    unsigned int number = 0;
    int result = virtio_blk_open(&disk, &test->bus, number);

    while (result == VIRTIO_OK) {
        check_disk();
        virtio_sleep_on(&disk.device, test->hart);
        check_disk();
        virtio_reset(&disk.device);
        print("virtio: disk %u of %lu sectors%s tested\n", number, disk.sectors,
              disk.read_only ? ", read-only," : "");
        number++;
        result = virtio_blk_open(&disk, &test->bus, number);
    }
    must(result == VIRTIO_NO_DEVICE, "open");
    return number;
}
