/* SPDX-License-Identifier: Apache-2.0 */
/* ChaCha20 by double rounds (chacha.h), for the seeds of VMs and the generators of random numbers
 * that are keyed from the machine's seed. All state is the caller's. */
#include "chacha.h"

#include "lib.h"

void chacha_begin(uint32_t *state, const uint32_t *key, const uint32_t *input)
{
    static const uint32_t constants[4] = {0x61707865U, 0x3320646eU, 0x79622d32U, 0x6b206574U};

    memcpy(state, constants, sizeof(constants));
    memcpy(state + 4, key, CHACHA_KEY_SIZE);
    memcpy(state + 12, input, 4U * sizeof(*input));
}

/* A quarter round (RFC 8439, section 2.1); it rotates by 16, 12, 8 and 7 bits. */
static void quarter_round(uint32_t *a, uint32_t *b, uint32_t *c, uint32_t *d)
{
    for (unsigned bits = 16; bits >= 8U; bits -= 8U) {
        unsigned second = bits == 16U ? 12U : 7U;

        *a += *b;
        *d ^= *a;
        *d = *d << bits | *d >> (32U - bits);
        *c += *d;
        *b ^= *c;
        *b = *b << second | *b >> (32U - second);
    }
}

void chacha_double_round(uint32_t *s)
{
    for (unsigned diagonal = 0; diagonal < 2U; diagonal++) {
        for (unsigned i = 0; i < 4U; i++) {
            quarter_round(&s[i], &s[4U + (i + diagonal) % 4U], &s[8U + (i + 2U * diagonal) % 4U],
                          &s[12U + (i + 3U * diagonal) % 4U]);
        }
    }
}

void chacha_hash_end(uint32_t *state)
{
    for (unsigned i = 0; i < 4U; i++) {
        state[4U + i] = state[12U + i];
    }
}
