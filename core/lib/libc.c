/* SPDX-License-Identifier: Apache-2.0 */
/* What compilers call without being asked. Not for a host that has a C library. */
#include "lib.h"

#define WORDS(n) ((n) & ~(sizeof(uint64_t) - 1U)) /* bytes of `n` that are whole words */

static bool aligned(uintptr_t address)
{
    return address % sizeof(uint64_t) == 0;
}

void *memcpy(void *restrict dst, const void *restrict src, size_t n)
{
    size_t done = aligned((uintptr_t)dst | (uintptr_t)src) ? WORDS(n) : 0; /* how compilers copy a structure */

    copy_words(dst, src, done);
#pragma GCC unroll 8 /* a guest's message from an odd address takes long enough */
    for (; done < n; done++) {
        ((char *)dst)[done] = ((const char *)src)[done];
    }
    return dst;
}

void *memset(void *dst, int c, size_t n)
{
    size_t done = c == 0 && aligned((uintptr_t)dst) ? WORDS(n) : 0; /* how compilers clear a structure */

    clear_words(dst, done);
    for (; done < n; done++) {
        ((char *)dst)[done] = (char)c;
    }
    return dst;
}
