/* SPDX-License-Identifier: Apache-2.0 */
/* BLAKE2b (RFC 7693) in one call, for the tags of bitstreams (bitstreams.c). The names v, m, h, t
 * and SIGMA are those of the RFC. All state is on the stack. */
#include "blake2b.h"

#include "lib.h"

#define BLOCK 128U /* bytes */
#define ROUNDS 12U

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words of a block are little-endian");

struct hash {
    uint64_t h[8]; /* the state (RFC 7693, section 3.1) */
    /* bytes so far; sizes have 64 bits at most, so the high word of the RFC's counter is 0 */
    uint64_t t;
};

/* RFC 7693, 2.6. */
static const uint64_t initial[8] = {
    0x6a09e667f3bcc908U, 0xbb67ae8584caa73bU, 0x3c6ef372fe94f82bU, 0xa54ff53a5f1d36f1U,
    0x510e527fade682d1U, 0x9b05688c2b3e6c1fU, 0x1f83d9abfb41bd6bU, 0x5be0cd19137e2179U,
};

/* SIGMA, RFC 7693, 2.7; rounds 10 and 11 repeat 0 and 1. */
static const uint8_t sigma[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
    {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
    {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
    {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
    {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
};

static inline uint64_t rotate_right(uint64_t value, unsigned by)
{
    return value >> by | value << (64U - by);
}

/* The function G, RFC 7693, 3.1. Inline, so that v stays in registers. */
static inline __attribute__((always_inline)) void mix(uint64_t *a, uint64_t *b, uint64_t *c,
                                                      uint64_t *d, uint64_t x, uint64_t y)
{
    *a += *b + x;
    *d = rotate_right(*d ^ *a, 32);
    *c += *d;
    *b = rotate_right(*b ^ *c, 24);
    *a += *b + y;
    *d = rotate_right(*d ^ *a, 16);
    *c += *d;
    *b = rotate_right(*b ^ *c, 63);
}

static inline __attribute__((always_inline)) void mix_round(uint64_t v[16], const uint64_t m[16],
                                                            const uint8_t s[16])
{
    mix(&v[0], &v[4], &v[8], &v[12], m[s[0]], m[s[1]]);
    mix(&v[1], &v[5], &v[9], &v[13], m[s[2]], m[s[3]]);
    mix(&v[2], &v[6], &v[10], &v[14], m[s[4]], m[s[5]]);
    mix(&v[3], &v[7], &v[11], &v[15], m[s[6]], m[s[7]]);
    mix(&v[0], &v[5], &v[10], &v[15], m[s[8]], m[s[9]]);
    mix(&v[1], &v[6], &v[11], &v[12], m[s[10]], m[s[11]]);
    mix(&v[2], &v[7], &v[8], &v[13], m[s[12]], m[s[13]]);
    mix(&v[3], &v[4], &v[9], &v[14], m[s[14]], m[s[15]]);
}

/* The function F, RFC 7693, 3.2: adds a block, of which `size` bytes count; the rest of the last
 * one is zero. */
static void add_block(struct hash *hash, const void *block, size_t size, bool last)
{
    uint64_t v[16], m[16] = {0};

    hash->t += size;
    memcpy(m, block, size);
    for (unsigned i = 0; i < 8U; i++) {
        v[i] = hash->h[i];
        v[i + 8U] = initial[i];
    }
    v[12] ^= hash->t;
    v[14] ^= last ? ~UINT64_C(0) : 0;
    for (unsigned i = 0; i < ROUNDS; i++) {
        mix_round(v, m, sigma[i % 10U]);
    }
    for (unsigned i = 0; i < 8U; i++) {
        hash->h[i] ^= v[i] ^ v[i + 8U];
    }
}

/* The key is a block of its own before the data, RFC 7693, 3.3. */
static void add_key(struct hash *hash, const void *key, size_t key_size, bool last)
{
    uint8_t block[BLOCK] = {0};

    memcpy(block, key, key_size);
    add_block(hash, block, BLOCK, last);
}

void blake2b(void *hash, size_t hash_size, const void *key, size_t key_size, const void *data,
             size_t size)
{
    struct hash state = {.t = 0};
    const uint8_t *from = data;

    memcpy(state.h, initial, sizeof(state.h));
    state.h[0] ^= 0x01010000U | key_size << 8 | hash_size;
    if (key_size > 0) {
        add_key(&state, key, key_size, size == 0);
    }
    for (; size > BLOCK; size -= BLOCK, from += BLOCK) {
        add_block(&state, from, BLOCK, false);
    }
    if (size > 0 || key_size == 0) {
        add_block(&state, from, size, true);
    }
    memcpy(hash, state.h, hash_size);
}
