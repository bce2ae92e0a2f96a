/* SPDX-License-Identifier: Apache-2.0 */
/* virtio_copy(): copies between the buffers of guests, which have any alignment. Every access is
 * aligned: between addresses of different distances from a multiple of 8, a longer copy composes
 * each word of two words of the source (copy_shifted()). Owns no state. */
#include "lib.h"
#include "virtio.h"

#define SHIFTED_FROM 32U /* bytes: fewer are copied faster by halves */

/* The whole part of `size` in units of 16 bits; both pointers are even. Returns the bytes that it
 * has copied. */
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

/* Fewer than 8 bytes that end at a multiple of 8, in the source and in the destination. */
static inline void copy_before(char *dst, const char *src, size_t size)
{
    if ((size & 1U) != 0) {
        *dst = *src;
    }
    if ((size & 2U) != 0) {
        *(uint16_t *)(void *)(dst + (size & 1U)) =
            *(const uint16_t *)(const void *)(src + (size & 1U));
    }
    if ((size & 4U) != 0) {
        *(uint32_t *)(void *)(dst + (size & 3U)) =
            *(const uint32_t *)(const void *)(src + (size & 3U));
    }
}

/* Fewer than 8 bytes that begin at a multiple of 8, in the source and in the destination. */
static inline void copy_behind(char *dst, const char *src, size_t size)
{
    if ((size & 4U) != 0) {
        *(uint32_t *)(void *)dst = *(const uint32_t *)(const void *)src;
    }
    if ((size & 2U) != 0) {
        *(uint16_t *)(void *)(dst + (size & 4U)) =
            *(const uint16_t *)(const void *)(src + (size & 4U));
    }
    if ((size & 1U) != 0) {
        dst[size & 6U] = src[size & 6U];
    }
}

static inline void copy_block(uint64_t *dst, const uint64_t *src)
{
    uint64_t a = src[0], b = src[1], c = src[2], d = src[3];
    uint64_t e = src[4], f = src[5], g = src[6], h = src[7];

    dst[0] = a, dst[1] = b, dst[2] = c, dst[3] = d;
    dst[4] = e, dst[5] = f, dst[6] = g, dst[7] = h;
}

/* From any address to words: each one is in two words of the source. Reads no word without a byte
 * of the source. */
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

/* Between addresses of different distances from a multiple of 8. */
static void copy_unlike(char *dst, const char *src, size_t size)
{
    size_t before = -(uintptr_t)dst & 7U, bytes = (size - before) & ~(size_t)7;

    if (size >= SHIFTED_FROM) {
        copy_few(dst, src, before);
        copy_shifted((void *)(dst + before), src + before, bytes / 8U);
        dst += before + bytes;
        src += before + bytes;
        size -= before + bytes;
    }
    copy_few(dst, src, size);
}

void virtio_copy(void *dst, const void *src, size_t size)
{
    size_t before = -(uintptr_t)dst & 7U, words = (size - before) / 8U;
    uint64_t *to = (void *)((char *)dst + before);
    const uint64_t *from = (const void *)((const char *)src + before);

    if (size < 8U || (((uintptr_t)dst ^ (uintptr_t)src) & 7U) != 0) {
        copy_unlike(dst, src, size);
        return;
    }
    copy_before(dst, src, before);
    for (; words > 16U; words -= 16U, to += 16, from += 16) {
        copy_block(to, from);
        copy_block(to + 8, from + 8);
    }
    if (words > 0) {
        copy_few_words(to, from, words);
    }
    copy_behind((char *)(to + words), (const char *)(from + words), (size - before) % 8U);
}
