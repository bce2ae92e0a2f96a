/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AES (FIPS 197) without tables: neither the addresses that are accessed nor the branches that are
 * taken depend on keys or data, so that a VM which shares caches with another one learns nothing of
 * its keys. Work is divided into calls of a few hundred instructions.
 */
#ifndef AES_H
#define AES_H

#include "types.h"

#define AES_BLOCK 16U   /* bytes */
#define AES_KEY_MAX 32U /* bytes */
#define AES_ROUNDS_MAX 14U

/* A block by planes: plane n has bit n of each byte. Planes 0 to 3 are in `low`, planes 4 to 7 in
 * `high`, 16 bits each; bit i of a plane is of byte i. */
struct aes_planes {
    uint64_t low, high;
};

/* An expanded key. Guarded as its owner's requests. */
struct aes_key {
    unsigned rounds;   /* 10, 12, 14; 0 without a key */
    unsigned words;    /* of the key: 4, 6, 8 */
    unsigned expanded; /* steps of aes_expand() */
    uint32_t constant; /* next round constant */
    union {
        /* little-endian, as long as the next ones are computed from them */
        uint32_t words[4U * (AES_ROUNDS_MAX + 1U)];
        struct aes_planes planes[AES_ROUNDS_MAX + 1U];
    } round;
};

/* A block that is being encrypted or decrypted. */
struct aes_state {
    struct aes_planes planes;
    unsigned round; /* rounds done */
};

/* Takes a key of `size` bytes: 16, 24 or 32. */
void aes_set_key(struct aes_key *key, const uint8_t *bytes, unsigned size);

static inline bool aes_expanded(const struct aes_key *key)
{
    return key->expanded == key->rounds + 3U;
}

/* A step of the key's expansion, unless it is expanded. */
void aes_expand(struct aes_key *key);

/* Begins a block, whose bytes are in memory order in two words. */
void aes_begin(struct aes_state *state, const uint64_t block[2]);

/* Do at most `count` rounds; return whether the block is done. The key is expanded. */
bool aes_encrypt(struct aes_state *state, const struct aes_key *key, unsigned count);
bool aes_decrypt(struct aes_state *state, const struct aes_key *key, unsigned count);

/* The block, once it is done. */
void aes_end(const struct aes_state *state, uint64_t block[2]);

#endif
