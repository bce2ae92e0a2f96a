/* SPDX-License-Identifier: Apache-2.0 */
/* Library functions of the freestanding hypervisor. Compilers call the mem* functions implicitly,
 * too. */
#ifndef LIB_H
#define LIB_H

#include "types.h"

void *memcpy(void *restrict dst, const void *restrict src, size_t n);
void *memset(void *dst, int c, size_t n);

/* Copies or clears `n` bytes, a multiple of 8, both pointers 8-byte aligned. */
void copy_words(uint64_t *dst, const uint64_t *src, size_t n);
void clear_words(uint64_t *dst, size_t n);

/*
 * A checksum similar to Fletcher's: the sum of all 32-bit little-endian words, and the sum of those
 * sums after each word, both modulo 2^64. It detects every change of one or two words (CRC-32: of
 * two bits in as much data), and any other change with probability 1 - 2^-64. Summing words, with
 * sums that do not wrap before 2^32 words, costs an eighth of CRC-32 by tables.
 */
struct word_sums {
    uint64_t words, sums; /* 0 at the start */
};

/* copy_words(), adding the words to `*sums`. */
void copy_words_summed(uint64_t *dst, const uint64_t *src, size_t n, struct word_sums *sums);

#define COPY_WORD(n)     \
    case (n) + 1U:       \
        dst[n] = src[n]; \
        __attribute__((fallthrough))

/* Copies 1 to 16 words inline: a call would cost the caller registers. */
static inline void copy_few_words(uint64_t *dst, const uint64_t *src, size_t words)
{
    switch (words & 15U) {
    case 0: /* 16 */
        dst[15] = src[15];
        __attribute__((fallthrough));
        COPY_WORD(14U);
        COPY_WORD(13U);
        COPY_WORD(12U);
        COPY_WORD(11U);
        COPY_WORD(10U);
        COPY_WORD(9U);
        COPY_WORD(8U);
        COPY_WORD(7U);
        COPY_WORD(6U);
        COPY_WORD(5U);
        COPY_WORD(4U);
        COPY_WORD(3U);
        COPY_WORD(2U);
        COPY_WORD(1U);
    default:
        dst[0] = src[0];
        break;
    }
}

#undef COPY_WORD

/* CRC-32 (IEEE 802.3, reflected, as zlib's crc32). */
uint32_t crc32(const void *data, size_t n);

/* A text that is being formatted. */
struct text {
    const char *fmt, *piece;     /* rest of the format; rest of the directive's output */
    const ulong *args;           /* the next argument */
    unsigned before, len, after; /* padding, rest of the piece, padding */
    char pad;                    /* before the piece: ' ' or '0' */
    char digits[24];             /* the piece, if it is a number or a character */
};

#define TEXT_END (-1)

/* Starts formatting like printf: `fmt` (%s %c %u %x %lu %lx %%, width, '-' and '0') and `args`, one
 * register each. All three must stay valid until text_next() has returned the last character. */
void text_begin(struct text *t, const char *fmt, const ulong *args);

/* The next character, or TEXT_END. */
int text_next(struct text *t);

#endif
