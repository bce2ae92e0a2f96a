/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiled so that the compiler does not turn these loops into calls of themselves
 * (guests-bare.mk).
 */
#include "string.h"

#include <stdint.h>

#define WORD sizeof(uint64_t)

/*
 * A word type that may alias any object: the copies below would otherwise violate C's aliasing
 * rule.
 */
typedef uint64_t __attribute__((may_alias)) string_word;

/* Copies from the lowest byte up; correct for overlapping buffers if `t` is below `f`. */
static void string_copy_up(unsigned char *t, const unsigned char *f, size_t count)
{
    if ((((uintptr_t)t | (uintptr_t)f) & (WORD - 1)) == 0) {
        for (; count >= WORD; count -= WORD, t += WORD, f += WORD) {
            *(string_word *)(void *)t = *(const string_word *)(const void *)f;
        }
    }
    while (count-- > 0) {
        *t++ = *f++;
    }
}

void *memcpy(void *restrict to, const void *restrict from, size_t count)
{
    string_copy_up(to, from, count);
    return to;
}

void *memmove(void *to, const void *from, size_t count)
{
    unsigned char *t = to;
    const unsigned char *f = from;

    if ((uintptr_t)t - (uintptr_t)f >= count) { /* also true if `to` is below `from` */
        string_copy_up(t, f, count);
        return to;
    }
    while (count-- > 0) {
        t[count] = f[count];
    }
    return to;
}

void *memset(void *to, int byte, size_t count)
{
    unsigned char *t = to;
    uint64_t word = (unsigned char)byte * UINT64_C(0x0101010101010101);

    while (count > 0 && ((uintptr_t)t & (WORD - 1)) != 0) {
        *t++ = (unsigned char)byte;
        count--;
    }
    for (; count >= WORD; count -= WORD, t += WORD) {
        *(string_word *)(void *)t = word;
    }
    while (count-- > 0) {
        *t++ = (unsigned char)byte;
    }
    return to;
}

int memcmp(const void *a, const void *b, size_t count)
{
    const unsigned char *x = a;
    const unsigned char *y = b;

    for (; count > 0; count--, x++, y++) {
        if (*x != *y) {
            return *x - *y;
        }
    }
    return 0;
}

size_t strlen(const char *text)
{
    size_t length = 0;

    while (text[length] != '\0') {
        length++;
    }
    return length;
}

int strncmp(const char *a, const char *b, size_t count)
{
    for (; count > 0; count--, a++, b++) {
        if (*a != *b || *a == '\0') {
            return (unsigned char)*a - (unsigned char)*b;
        }
    }
    return 0;
}

int strcmp(const char *a, const char *b)
{
    return strncmp(a, b, SIZE_MAX);
}

char *strncpy(char *restrict to, const char *restrict from, size_t count)
{
    size_t i = 0;

    for (; i < count && from[i] != '\0'; i++) {
        to[i] = from[i];
    }
    for (; i < count; i++) {
        to[i] = '\0';
    }
    return to;
}
