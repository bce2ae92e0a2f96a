/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ChaCha20 permutation (RFC 8439, section 2), a double round per call, so that callers can poll
 * interrupts between calls. State, key and input are 32-bit words in the order of the RFC.
 */
#ifndef CHACHA_H
#define CHACHA_H

#include "types.h"

#define CHACHA_KEY_SIZE 32U      /* bytes */
#define CHACHA_STATE_WORDS 16U   /* of 32 bits */
#define CHACHA_DOUBLE_ROUNDS 10U /* 300 instructions each */

/* Sets up the 16 words of `state`: constants, 8 words of key, 4 of input (counter and nonce). */
void chacha_begin(uint32_t *state, const uint32_t *key, const uint32_t *input);
void chacha_double_round(uint32_t *state);

/* After CHACHA_DOUBLE_ROUNDS: makes words 0 to 7 the output of HChaCha20
 * (draft-irtf-cfrg-xchacha-03, section 2.2), which is words 0 to 3 and 12 to 15. */
void chacha_hash_end(uint32_t *state);

#endif
