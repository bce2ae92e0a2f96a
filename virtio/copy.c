/* SPDX-License-Identifier: Apache-2.0 */
/* Copies between the buffers of guests, which have any alignment. */
#include "lib.h"
#include "virtio.h"

#define WORDS_FROM 32U /* bytes: fewer are copied faster by halves */

/* The whole part of `size` in units of 16 bits; both pointers are even. Returns the bytes that it has copied. */
static size_t copy_halves(char *dst, const char *src, size_t size)
{
    uint16_t *to = (void *)dst;
    const uint16_t *from = (const void *)src;

    for (size_t left = size / 8U; left > 0; left--, to += 4, from += 4) {
        uint16_t a = from[0], b = from[1], c = from[2], d = from[3];

        to[0] = a, to[1] = b, to[2] = c, to[3] = d;
    }
    for (size_t left = size % 8U / 2U; left > 0; left--) {
        *to++ = *from++;
    }
    return size & ~(size_t)1;
}

/* Any alignment. */
static void copy_few(char *dst, const char *src, size_t size)
{
    size_t done = (((uintptr_t)dst | (uintptr_t)src) & 1U) == 0 ? copy_halves(dst, src, size) : 0;

    for (; done < size; done++) {
        dst[done] = src[done];
    }
}

/* From any address to words: each one is in two words of the source. Reads no word without a byte of the source. */
static void copy_shifted(uint64_t *dst, const char *src, size_t words)
{
    unsigned shift = (unsigned)((uintptr_t)src % 8U) * 8U;
    const uint64_t *from = (const void *)(src - shift / 8U);
    uint64_t low = *from++;

#pragma GCC unroll 4
    for (; words > 0; words--) {
        uint64_t high = *from++;

        *dst++ = low >> shift | high << (64U - shift);
        low = high;
    }
}

void virtio_copy(void *dst, const void *src, size_t size)
{
    char *to = dst;
    const char *from = src;
    size_t before = -(uintptr_t)dst & 7U, bytes = (size - before) & ~(size_t)7;

    if (size >= WORDS_FROM) {
        copy_few(to, from, before);
        if ((uintptr_t)(from + before) % 8U == 0) {
            copy_words((void *)(to + before), (const void *)(from + before), bytes);
        } else {
            copy_shifted((void *)(to + before), from + before, bytes / 8U);
        }
        to += before + bytes;
        from += before + bytes;
        size -= before + bytes;
    }
    copy_few(to, from, size);
}
