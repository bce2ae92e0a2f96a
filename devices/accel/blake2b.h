/* SPDX-License-Identifier: Apache-2.0 */
/* BLAKE2b (RFC 7693), a hash that is a message authentication code if it has a key: the tag of a
 * bitstream, made with the board's key. */
#ifndef BLAKE2B_H
#define BLAKE2B_H

#include "types.h"

#define BLAKE2B_SIZE_MAX 64U /* bytes of a hash, and of a key */

/*
 * Writes the hash of `size` bytes at `data` to `hash`, `hash_size` bytes: 1 .. BLAKE2B_SIZE_MAX.
 * With a key of `key_size` bytes, at most BLAKE2B_SIZE_MAX, the hash is a tag that only a holder of
 * the key can compute; 0: no key. Any alignment.
 */
void blake2b(void *hash, size_t hash_size, const void *key, size_t key_size, const void *data,
             size_t size);

#endif
