/* SPDX-License-Identifier: Apache-2.0 */
/* What a freestanding program lacks. The mem* names are also what compilers call by themselves. */
#ifndef LIB_H
#define LIB_H

#include <stdarg.h>

#include "types.h"

void *memcpy(void *restrict dst, const void *restrict src, size_t n);
void *memset(void *dst, int c, size_t n);

/* Copies or clears `n` bytes, a multiple of 8, both pointers 8-byte aligned. */
void copy_words(uint64_t *dst, const uint64_t *src, size_t n);
void clear_words(uint64_t *dst, size_t n);

/* Copies 1 to 16 words, fast. */
void copy_few_words(uint64_t *dst, const uint64_t *src, size_t words);

/* CRC-32 (IEEE 802.3, reflected, as zlib's crc32). */
uint32_t crc32(const void *data, size_t n);

/* Formats as printf does (%s %c %d %u %x %lu %ld %lx %%, width, '-' and '0') into `put`, called for every character. */
void format(void (*put)(void *arg, char c), void *arg, const char *fmt, va_list ap);

#endif
