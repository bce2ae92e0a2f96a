/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and clears memory by 64-bit words, also with the checksum of what is copied. It serves the
 * loading of VMs. */
#include "lib.h"

/* Eight words per iteration: loading VMs dominates the boot time. */
void copy_words(uint64_t *dst, const uint64_t *src, size_t n)
{
    size_t words = n / sizeof(uint64_t);

    for (; words >= 8; words -= 8, dst += 8, src += 8) {
        uint64_t a = src[0], b = src[1], c = src[2], d = src[3];
        uint64_t e = src[4], f = src[5], g = src[6], h = src[7];

        dst[0] = a, dst[1] = b, dst[2] = c, dst[3] = d;
        dst[4] = e, dst[5] = f, dst[6] = g, dst[7] = h;
    }
    while (words-- > 0) {
        *dst++ = *src++;
    }
}

void copy_words_summed(uint64_t *dst, const uint64_t *src, size_t n, struct word_sums *sums)
{
    uint64_t words = sums->words, of_sums = sums->sums;

    for (size_t left = n / sizeof(uint64_t); left > 0; left--, src++) {
        uint64_t both = *src;

        words += (uint32_t)both;
        of_sums += words;
        words += both >> 32;
        of_sums += words;
        *dst++ = both;
    }
    sums->words = words;
    sums->sums = of_sums;
}

void clear_words(uint64_t *dst, size_t n)
{
    size_t words = n / sizeof(uint64_t);

    for (; words >= 8; words -= 8, dst += 8) {
        dst[0] = 0, dst[1] = 0, dst[2] = 0, dst[3] = 0;
        dst[4] = 0, dst[5] = 0, dst[6] = 0, dst[7] = 0;
    }
    while (words-- > 0) {
        *dst++ = 0;
    }
}
