/* SPDX-License-Identifier: Apache-2.0 */
#include "soft.h"

#include <stdbool.h>

/* --- QAM16 --- */

/* Level for the two bits of an axis, the first bit the lowest: Gray code, 14 fractional bits, mean power 1 (levels 1 and 3 divided
 * by the square root of 10). */
static const int16_t qam16_axis[4] = {-15543, 15543, -5181, 5181};

void soft_qam16(const struct accel_job *job)
{
    const uint8_t *in = job->input;
    int16_t *out = job->output;

    for (uint32_t i = 0; i < job->size; i++) {
        for (unsigned int axis = 0; axis < 4; axis++) { /* I and Q of two symbols */
            out[4 * i + axis] = qam16_axis[in[i] >> (2 * axis) & 3];
        }
    }
}

/* --- AES-128 (FIPS 197) --- */

#define ROUNDS 10U
#define BLOCK 16U

static uint8_t sbox[256];

/* Multiplication by x in GF(2^8) modulo x^8 + x^4 + x^3 + x + 1. */
static uint8_t twice(uint8_t a)
{
    return (uint8_t)(a << 1 ^ ((a & 0x80U) != 0 ? 0x1bU : 0));
}

static uint8_t rotated(uint8_t a, unsigned int bits)
{
    return (uint8_t)(a << bits | a >> (8 - bits));
}

/* Steps through all elements by the generator 3, and through their inverses by the inverse of 3 (section 5.1.1). */
static void make_sbox(void)
{
    uint8_t p = 1, q = 1;

    do {
        p = (uint8_t)(p ^ twice(p));
        q = (uint8_t)(q ^ q << 1);
        q = (uint8_t)(q ^ q << 2);
        q = (uint8_t)(q ^ q << 4);
        q = (uint8_t)(q ^ ((q & 0x80U) != 0 ? 0x09U : 0));
        sbox[p] = (uint8_t)(q ^ rotated(q, 1) ^ rotated(q, 2) ^ rotated(q, 3) ^ rotated(q, 4) ^ 0x63U);
    } while (p != 1);
    sbox[0] = 0x63;
}

/* Section 5.2. */
static void expand_key(const uint32_t custom[8], uint8_t keys[ROUNDS + 1][BLOCK])
{
    uint8_t *words = keys[0], constant = 1;

    for (unsigned int i = 0; i < BLOCK; i++) {
        words[i] = (uint8_t)(custom[i / 4] >> (8 * (i % 4)));
    }
    for (unsigned int i = BLOCK; i < BLOCK * (ROUNDS + 1); i++) {
        uint8_t last = words[i - 4];

        if (i % BLOCK < 4) {
            last = sbox[words[i % 4 == 3 ? i - 7 : i - 3]];
            last = (uint8_t)(last ^ (i % BLOCK == 0 ? constant : 0));
        }
        words[i] = (uint8_t)(words[i - BLOCK] ^ last);
        constant = i % BLOCK == 3 ? twice(constant) : constant;
    }
}

static void substitute_and_shift(uint8_t state[BLOCK])
{
    uint8_t before[BLOCK];

    for (unsigned int i = 0; i < BLOCK; i++) {
        before[i] = sbox[state[i]];
    }
    for (unsigned int i = 0; i < BLOCK; i++) {
        state[i] = before[(i + 4 * (i % 4)) % BLOCK];
    }
}

static void mix_columns(uint8_t state[BLOCK])
{
    for (uint8_t *c = state; c < state + BLOCK; c += 4) {
        uint8_t all = (uint8_t)(c[0] ^ c[1] ^ c[2] ^ c[3]), first = c[0];

        for (unsigned int i = 0; i < 4; i++) {
            uint8_t next = i < 3 ? c[i + 1] : first;

            c[i] = (uint8_t)(c[i] ^ all ^ twice((uint8_t)(c[i] ^ next)));
        }
    }
}

static void add_key(uint8_t state[BLOCK], const uint8_t key[BLOCK])
{
    for (unsigned int i = 0; i < BLOCK; i++) {
        state[i] = (uint8_t)(state[i] ^ key[i]);
    }
}

static void encrypt(uint8_t state[BLOCK], uint8_t keys[ROUNDS + 1][BLOCK])
{
    add_key(state, keys[0]);
    for (unsigned int round = 1; round <= ROUNDS; round++) {
        substitute_and_shift(state);
        if (round < ROUNDS) {
            mix_columns(state);
        }
        add_key(state, keys[round]);
    }
}

void soft_aes128(const struct accel_job *job)
{
    uint8_t keys[ROUNDS + 1][BLOCK];
    const uint8_t *in = job->input;
    uint8_t *out = job->output;

    make_sbox();
    expand_key(job->custom, keys);
    for (uint32_t i = 0; i < job->size; i += BLOCK) {
        for (unsigned int k = 0; k < BLOCK; k++) {
            out[i + k] = in[i + k];
        }
        encrypt(out + i, keys);
    }
}
