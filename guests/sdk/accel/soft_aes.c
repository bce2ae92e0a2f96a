/* SPDX-License-Identifier: Apache-2.0 */
/* AES-128 (FIPS 197) in the modes ECB, CBC and CTR (NIST SP 800-38A). Not protected against timing
 * analysis. */
#include <stdbool.h>
#include <string.h>

#include "accel_soft.h"

#define ROUNDS 10U
#define BLOCK 16U
#define RAGGED 1U  /* result: the size is no multiple of a block */
#define UNKNOWN 2U /* result: unknown command */

/* The tables have the same values in every call, so that calls which preempt each other do no
 * harm. */
static uint8_t sbox[256], inverse_sbox[256];

struct aes {
    uint8_t keys[ROUNDS + 1U][BLOCK];
    uint8_t chain[BLOCK]; /* initial vector, last block of ciphertext, or counter */
    bool decrypts;
};

/* Multiplication by x in GF(2^8) modulo x^8 + x^4 + x^3 + x + 1. */
static uint8_t twice(uint8_t a)
{
    return (uint8_t)(a << 1 ^ ((a & 0x80U) != 0 ? 0x1bU : 0));
}

static uint8_t rotated(uint8_t a, unsigned int bits)
{
    return (uint8_t)(a << bits | a >> (8 - bits));
}

static void set_sbox(uint8_t at, uint8_t value)
{
    sbox[at] = value;
    inverse_sbox[value] = at;
}

/* Steps through all elements by the generator 3, and through their inverses by the inverse of 3
 * (section 5.1.1). */
static void make_sbox(void)
{
    uint8_t p = 1, q = 1;

    do {
        p = (uint8_t)(p ^ twice(p));
        q = (uint8_t)(q ^ q << 1);
        q = (uint8_t)(q ^ q << 2);
        q = (uint8_t)(q ^ q << 4);
        q = (uint8_t)(q ^ ((q & 0x80U) != 0 ? 0x09U : 0));
        set_sbox(p, (uint8_t)(q ^ rotated(q, 1) ^ rotated(q, 2) ^ rotated(q, 3) ^ rotated(q, 4) ^
                              0x63U));
    } while (p != 1);
    set_sbox(0, 0x63);
}

/* Section 5.2. */
static void expand_key(struct aes *aes, const uint32_t custom[8])
{
    uint8_t *words = aes->keys[0], constant = 1;

    for (unsigned int i = 0; i < BLOCK; i++) {
        words[i] = (uint8_t)(custom[i / 4U] >> (8U * (i % 4U)));
        aes->chain[i] = (uint8_t)(custom[4U + i / 4U] >> (8U * (i % 4U)));
    }
    for (unsigned int i = BLOCK; i < BLOCK * (ROUNDS + 1U); i++) {
        uint8_t last = words[i - 4U];

        if (i % BLOCK < 4U) {
            last = sbox[words[i % 4U == 3U ? i - 7U : i - 3U]];
            last = (uint8_t)(last ^ (i % BLOCK == 0 ? constant : 0));
        }
        words[i] = (uint8_t)(words[i - BLOCK] ^ last);
        constant = i % BLOCK == 3U ? twice(constant) : constant;
    }
}

/* SubBytes and ShiftRows. */
static void substitute_and_shift(uint8_t state[BLOCK])
{
    uint8_t before[BLOCK];

    memcpy(before, state, BLOCK);
    for (unsigned int i = 0; i < BLOCK; i++) {
        state[i] = sbox[before[(i + 4U * (i % 4U)) % BLOCK]];
    }
}

/* InvShiftRows and InvSubBytes. */
static void shift_and_substitute_back(uint8_t state[BLOCK])
{
    uint8_t before[BLOCK];

    memcpy(before, state, BLOCK);
    for (unsigned int i = 0; i < BLOCK; i++) {
        state[(i + 4U * (i % 4U)) % BLOCK] = inverse_sbox[before[i]];
    }
}

static void mix_columns(uint8_t state[BLOCK])
{
    for (uint8_t *c = state; c < state + BLOCK; c += 4) {
        uint8_t all = (uint8_t)(c[0] ^ c[1] ^ c[2] ^ c[3]), first = c[0];

        for (unsigned int i = 0; i < 4; i++) {
            uint8_t next = i < 3 ? c[i + 1U] : first;

            c[i] = (uint8_t)(c[i] ^ all ^ twice((uint8_t)(c[i] ^ next)));
        }
    }
}

/* InvMixColumns is MixColumns after a multiplication by 4 x^2 + 5. */
static void mix_columns_back(uint8_t state[BLOCK])
{
    for (uint8_t *c = state; c < state + BLOCK; c += 4) {
        uint8_t even = twice(twice((uint8_t)(c[0] ^ c[2]))),
                odd = twice(twice((uint8_t)(c[1] ^ c[3])));

        for (unsigned int i = 0; i < 4; i++) {
            c[i] = (uint8_t)(c[i] ^ (i % 2U == 0 ? even : odd));
        }
    }
    mix_columns(state);
}

/* state ^= other */
static void add(uint8_t state[BLOCK], const uint8_t other[BLOCK])
{
    for (unsigned int i = 0; i < BLOCK; i++) {
        state[i] = (uint8_t)(state[i] ^ other[i]);
    }
}

static void encrypt(const struct aes *aes, uint8_t state[BLOCK])
{
    add(state, aes->keys[0]);
    for (unsigned int round = 1; round <= ROUNDS; round++) {
        substitute_and_shift(state);
        if (round < ROUNDS) {
            mix_columns(state);
        }
        add(state, aes->keys[round]);
    }
}

static void decrypt(const struct aes *aes, uint8_t state[BLOCK])
{
    for (unsigned int round = ROUNDS; round >= 1; round--) {
        add(state, aes->keys[round]);
        if (round < ROUNDS) {
            mix_columns_back(state);
        }
        shift_and_substitute_back(state);
    }
    add(state, aes->keys[0]);
}

/* The block after encryption or decryption in mode ECB or CBC. */
static void chain_block(struct aes *aes, uint8_t block[BLOCK], bool chains)
{
    uint8_t before[BLOCK];

    memcpy(before, block, BLOCK);
    if (chains && !aes->decrypts) {
        add(block, aes->chain);
    }
    if (aes->decrypts) {
        decrypt(aes, block);
    } else {
        encrypt(aes, block);
    }
    if (chains && aes->decrypts) {
        add(block, aes->chain);
    }
    memcpy(aes->chain, aes->decrypts ? before : block, BLOCK);
}

/* CTR: the counter is a number of 128 bits, most significant byte first. */
static void count_block(struct aes *aes, uint8_t block[BLOCK])
{
    uint8_t pad[BLOCK];
    unsigned int at = BLOCK;

    memcpy(pad, aes->chain, BLOCK);
    encrypt(aes, pad);
    add(block, pad);
    do {
        at--;
        aes->chain[at]++;
    } while (aes->chain[at] == 0 && at > 0);
}

/* `used` bytes of a block; those after them are zero in the output, too. */
static void run_block(struct aes *aes, const struct accel_job *job, uint32_t at, uint32_t used)
{
    uint8_t block[BLOCK] = {0};
    uint32_t written = ACCEL_AES128_OUTPUT(used);

    memcpy(block, (const uint8_t *)job->input + at, used);
    if (job->command == ACCEL_AES128_CTR) {
        count_block(aes, block);
    } else {
        chain_block(aes, block, job->command >= ACCEL_AES128_CBC_ENCRYPT);
    }
    memset(block + used, 0, BLOCK - used);
    memcpy((uint8_t *)job->output + at, block, written);
}

struct accel_result accel_soft_aes128(const struct accel_job *job)
{
    struct aes aes;

    if (job->command > ACCEL_AES128_CTR) {
        return (struct accel_result){.code = UNKNOWN};
    }
    if (job->command != ACCEL_AES128_CTR && job->size % BLOCK != 0) {
        return (struct accel_result){.code = RAGGED};
    }
    make_sbox();
    expand_key(&aes, job->custom);
    aes.decrypts =
        job->command == ACCEL_AES128_ECB_DECRYPT || job->command == ACCEL_AES128_CBC_DECRYPT;
    for (uint32_t at = 0; at < job->size; at += BLOCK) {
        run_block(&aes, job, at, job->size - at < BLOCK ? job->size - at : BLOCK);
    }
    return (struct accel_result){.size = ACCEL_AES128_OUTPUT(job->size)};
}
