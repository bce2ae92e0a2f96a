/* SPDX-License-Identifier: Apache-2.0 */
/* memcpy() and memset(), which compilers call implicitly. Not linked on a host, which has a C
 * library. Whole words are copied or cleared if the addresses are aligned. */
#include "lib.h"

#define WORDS(n) ((n) & ~(sizeof(uint64_t) - 1U)) /* bytes in whole words */

static bool aligned(uintptr_t address)
{
    return address % sizeof(uint64_t) == 0;
}

void *memcpy(void *restrict dst, const void *restrict src, size_t n)
{
    /* how compilers copy structures */
    size_t done = aligned((uintptr_t)dst | (uintptr_t)src) ? WORDS(n) : 0;

    copy_words(dst, src, done);
    /* Copying an unaligned message is the longest part of the longest non-preemptible section. */
#pragma GCC unroll 8
    for (; done < n; done++) {
        ((char *)dst)[done] = ((const char *)src)[done];
    }
    return dst;
}

void *memset(void *dst, int c, size_t n)
{
    /* how compilers clear structures */
    size_t done = c == 0 && aligned((uintptr_t)dst) ? WORDS(n) : 0;

    clear_words(dst, done);
    for (; done < n; done++) {
        ((char *)dst)[done] = (char)c;
    }
    return dst;
}
