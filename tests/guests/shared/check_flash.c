/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the driver of the shared flash (shared_test.h): contents, errors, several requests at once,
 * and interrupts. Owns the device and the buffers. */
#include <stddef.h>
#include <string.h>

#include "print.h"
#include "shared_flash.h"
#include "shared_test.h"

#define BYTES 600U    /* more than two pages */
#define ADDRESS 1000U /* in the middle of a page */
#define TAG 0x50U

static struct flash flash;
static uint8_t data[BYTES], back[BYTES];

static void fill(uint8_t seed)
{
    for (unsigned int i = 0; i < BYTES; i++) {
        data[i] = (uint8_t)(seed + 7U * i + (i >> 8));
    }
    memset(back, 0, sizeof(back));
}

static bool is_erased(uint32_t address)
{
    uint8_t bytes[64];

    memset(bytes, 0, sizeof(bytes));
    if (flash_read(&flash, address, bytes, sizeof(bytes)) != SHARED_OK) {
        return false;
    }
    for (unsigned int i = 0; i < sizeof(bytes); i++) {
        if (bytes[i] != 0xff) {
            return false;
        }
    }
    return true;
}

/* An erased sector, data across pages, all short reads. */
static void check_contents(void)
{
    fill(1);
    must(flash_erase(&flash, 0) == SHARED_OK, "erase");
    must(is_erased(ADDRESS) && is_erased(FLASH_SECTOR - 64U), "the sector is erased");
    must(flash_program(&flash, ADDRESS, data, BYTES) == SHARED_OK, "program");
    must(flash_read(&flash, ADDRESS, back, BYTES) == SHARED_OK && memcmp(data, back, BYTES) == 0,
         "read");
    for (unsigned int bytes = 0; bytes <= 9; bytes++) {
        memset(back, 0, sizeof(back));
        must(flash_read(&flash, ADDRESS + bytes, back, bytes) == SHARED_OK, "a short read");
        must(memcmp(data + bytes, back, bytes) == 0 && back[bytes] == 0,
             "the data of a short read");
    }
}

static void check_errors(void)
{
    uint32_t size = flash.size;

    must(flash_read(&flash, size - 4U, back, 4) == SHARED_OK, "read at the end of the window");
    must(flash_read(&flash, size - 4U, back, 5) == SHARED_FORBIDDEN,
         "read across the end of the window");
    must(flash_program(&flash, size, data, 1) == SHARED_FORBIDDEN, "program behind the window");
    must(flash_erase(&flash, size) == SHARED_FORBIDDEN, "erase behind the window");
    must(flash_erase(&flash, 1) == SHARED_BAD, "erase from a second byte");
    must(flash_read(&flash, 0, (void *)0x1000, 64) == SHARED_OUTSIDE, "read to no memory");
    must(flash_program(&flash, 0, (void *)0x1000, 64) == SHARED_OUTSIDE, "program from no memory");
}

/* As many requests as the device holds, with tags. */
static void check_asynchronous(void)
{
    unsigned int count = 0, tags = 0;
    struct shared_completion done;

    fill(2);
    must(flash_program(&flash, 2U * FLASH_PAGE * 16U, data, BYTES) == SHARED_OK,
         "program for many reads");
    while (flash_submit_read(&flash, 2U * FLASH_PAGE * 16U + 64U * count, back + 64U * count, 64,
                             (uint8_t)(TAG + count)) == SHARED_OK) {
        count++;
    }
    must(count == flash.channel.depth && count >= 2 && count <= 8,
         "the device holds some requests");
    must(flash_read(&flash, 0, back, 1) == SHARED_BUSY, "a synchronous request beside others");
    for (unsigned int i = 0; i < count; i++) {
        shared_wait(&flash.channel, &done);
        must(done.status == SHARED_OK && done.bytes == 64, "an asynchronous read");
        tags |= 1U << (done.tag - TAG);
    }
    must(tags == (1U << count) - 1U, "each tag once");
    must(memcmp(data, back, 64U * count) == 0, "the data of asynchronous reads");
    must(!shared_take(&flash.channel, &done), "no further completion");
}

/* More requests than the ring has entries, each ended by an interrupt. */
static void check_interrupt(unsigned long hart)
{
    bool right = true;

    shared_sleep_on(&flash.channel, hart);
    for (unsigned int i = 0; i < 40; i++) {
        memset(back, 0, sizeof(back));
        right = right && flash_read(&flash, 2U * FLASH_PAGE * 16U + i, back, 100) == SHARED_OK &&
                memcmp(data + i, back, 100) == 0;
    }
    must(right, "reads that end with an interrupt");
}

void check_flash(const void *fdt, unsigned long hart)
{
    must(flash_open(&flash, fdt) == SHARED_OK, "open the flash");
    print("shared: flash of %u sectors\n", flash.size / FLASH_SECTOR);
    check_contents();
    check_errors();
    check_asynchronous();
    check_interrupt(hart);
    print("shared: flash tested\n");
}
