/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Linux program: stores of 64 bits to the registers of a PCI function, for programs in languages
 * that have none, such as Python.
 *
 *      store64 FILE BYTES        FILE is `resource0` of the function in sysfs, BYTES the size of
 * this BAR
 *
 * Reads records of two words of 64 bits, an offset and a value, from the standard input, until its
 * end. After each store it writes a byte to the standard output. Exit status 0; 1 for an error,
 * with a message.
 */
#include <stdbool.h>

#include "linux.h"

_Noreturn void main(int count, char **words);

struct record {
    uint64_t offset, value;
};

static _Noreturn void fail(const char *why)
{
    linux_fail("store64", why);
}

/* False at the end of the input. */
static bool read_record(struct record *r)
{
    size_t used = 0;
    long size;

    do {
        size = linux_read(0, (char *)r + used, sizeof(*r) - used);
        used += size > 0 ? (size_t)size : 0;
    } while ((size > 0 && used < sizeof(*r)) || size == -LINUX_EINTR);
    if (size < 0 || (size == 0 && used != 0)) {
        fail("cannot read a record of 16 bytes");
    }
    return used != 0;
}

_Noreturn void main(int count, char **words)
{
    long bytes = count == 3 ? linux_number(words[2]) : -1;
    struct record r;
    long file, bar;

    if (bytes <= 0) {
        fail("expected: store64 FILE BYTES");
    }
    file = linux_open(words[1], LINUX_O_RDWR | LINUX_O_SYNC);
    bar = file < 0 ? file : linux_map(file, 0, (size_t)bytes);
    if (bar < 0) {
        fail("cannot map the registers");
    }
    while (read_record(&r)) {
        if (r.offset % 8U != 0 || r.offset >= (uint64_t)bytes) {
            fail("expected an offset in the BAR, a multiple of 8");
        }
        __asm__ volatile("fence rw, iorw" : : : "memory");
        *(volatile uint64_t *)((uintptr_t)bar + r.offset) = r.value;
        linux_put(1, "", 1);
    }
    linux_exit(0);
}
