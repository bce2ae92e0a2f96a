/* SPDX-License-Identifier: Apache-2.0 */
/* Boundary values: limits of checks, one more, one less, and values that wrap. */
#include "fuzz.h"
#include "platform.h"

#define RAM_BASE 0x80000000UL
#define RAM_SIZE 0x400000UL /* as in the system file of the fuzz run */
#define SHARED_BASE 0xa0000000UL
#define SHARED_SIZE 0x200000UL
#define GPA_LIMIT (1UL << 41)

uint8_t fuzz_buffer[4096] __attribute__((aligned(4096)));

static uint64_t pick(struct random *r, const uint64_t *from, unsigned count)
{
    return from[random_below(r, count)];
}

uint64_t fuzz_any(struct random *r)
{
    static const uint64_t edges[] = {
        0,    1,         2,         3,         4,         7,         8,    15,   16,
        31,   32,        33,        63,        64,        127,       128,  129,  255,
        4096, 1UL << 16, 1UL << 31, 1UL << 32, 1UL << 48, 1UL << 63, ~0UL, ~1UL, ~7UL};

    switch (random_below(r, 8)) {
    case 0:
        return random_next(r);
    case 1:
        return fuzz_address(r);
    case 2:
        return 1UL << random_below(r, 64);
    default:
        return pick(r, edges, sizeof(edges) / sizeof(edges[0]));
    }
}

uint64_t fuzz_size(struct random *r)
{
    static const uint64_t edges[] = {0,    1,    7,    8,        9,           39,        40,
                                     41,   63,   64,   65,       127,         128,       129,
                                     4095, 4096, 4097, RAM_SIZE, SHARED_SIZE, 1UL << 32, ~0UL};

    return random_below(r, 3) != 0 ? pick(r, edges, sizeof(edges) / sizeof(edges[0]))
                                   : random_next(r) & 0xffU;
}

uint64_t fuzz_address(struct random *r)
{
    static const uint64_t edges[] = {RAM_BASE,
                                     RAM_BASE + RAM_SIZE,
                                     RAM_BASE + RAM_SIZE,
                                     SHARED_BASE,
                                     SHARED_BASE + SHARED_SIZE,
                                     PLATFORM_UART_BASE,
                                     PLATFORM_PLIC_BASE,
                                     PLATFORM_HOLE,
                                     0,
                                     GPA_LIMIT,
                                     1UL << 63,
                                     (uint64_t)PLATFORM_UART_BASE + 0x1000};
    const uint64_t edge = pick(r, edges, sizeof(edges) / sizeof(edges[0]));

    switch (random_below(r, 8)) {
    case 0:
        return random_next(r);
    case 1:
        return edge - random_below(r, 0x2000);
    case 2:
        return edge - (random_below(r, 20) << 3);
    case 3:
        return edge;
    default: /* valid, and often correctly aligned */
        return (uintptr_t)fuzz_buffer + (random_below(r, 4) == 0 ? random_below(r, 4096) : 0);
    }
}
