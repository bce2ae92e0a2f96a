/* SPDX-License-Identifier: Apache-2.0 */
/* What compilers call without being asked. Not for a host that has a C library. */
#include "lib.h"

void *memcpy(void *restrict dst, const void *restrict src, size_t n)
{
    char *d = dst;
    const char *s = src;

    while (n-- > 0) {
        *d++ = *s++;
    }
    return dst;
}

void *memset(void *dst, int c, size_t n)
{
    char *d = dst;

    if (c == 0 && (((uintptr_t)dst | n) & 7U) == 0) { /* how compilers clear a structure */
        clear_words(dst, n);
        return dst;
    }
    while (n-- > 0) {
        *d++ = (char)c;
    }
    return dst;
}
