/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of any alignment, and none that reaches memory outside of the VM. */
#include <string.h>

#include "print.h"
#include "shared_copy.h"
#include "shared_test.h"

#define BYTES 4096U
#define LONG 40000U       /* more than a request */
#define NOWHERE 0x2000UL  /* guest-physical, without memory */
#define LAST 0x803ffff0UL /* of the VM's RAM */
#define COPIES 40U

static struct copier copier;
static uint8_t source[LONG], target[LONG + 2U], other[LONG + 2U];

static void fill(uint8_t seed)
{
    for (unsigned int i = 0; i < LONG; i++) {
        source[i] = (uint8_t)(seed + 5U * i + (i >> 8));
    }
    memset(target, 0xa5, sizeof(target));
    memset(other, 0xa5, sizeof(other));
}

/* The bytes around the target do not change. */
static bool copies(unsigned int to, unsigned int from, unsigned int bytes)
{
    fill((uint8_t)bytes);
    memcpy(other + 1 + to, source + from, bytes);
    return copy_memory(&copier, target + 1 + to, source + from, bytes) == SHARED_OK &&
           memcmp(target, other, sizeof(target)) == 0;
}

static void check_errors(void)
{
    fill(1);
    must(copy_memory(&copier, target, (void *)NOWHERE, 64) == SHARED_OUTSIDE,
         "copy from no memory");
    must(copy_memory(&copier, (void *)NOWHERE, source, 64) == SHARED_OUTSIDE, "copy to no memory");
    must(copy_memory(&copier, target, (void *)LAST, 17) == SHARED_OUTSIDE,
         "copy across the end of memory");
    must(copy_memory(&copier, (void *)LAST, source, 17) == SHARED_OUTSIDE,
         "copy to the end of memory and beyond");
    must(copy_submit(&copier, target, source, 0, 0) == SHARED_INVALID, "copy of nothing");
    must(copy_submit(&copier, target, (void *)((uintptr_t)1 << 32), 1, 0) == SHARED_INVALID,
         "copy across 4 GiB");
    must(copies(0, 0, 64), "copy after errors");
}

void check_copy(const void *fdt, unsigned long hart)
{
    bool right = true;

    must(copy_open(&copier, fdt) == SHARED_OK, "open the copies");
    for (unsigned int i = 0; i < COPIES; i++) {
        right = right && copies(i % 9U, 3U * i % 11U, 1U + i * i % BYTES);
    }
    must(right, "copies of any alignment");
    must(copies(1, 0, LONG - 1U), "a long copy");
    check_errors();
    shared_sleep_on(&copier.channel, hart);
    must(copies(3, 2, BYTES), "a copy that ends with an interrupt");
    print("shared: copies tested\n");
}
