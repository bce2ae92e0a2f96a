/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Seeds for guests' random number generators. Firmware hands the machine's seed over in its device tree; each start of each VM
 * gets a seed of its own, derived by HChaCha20 (draft-irtf-cfrg-xchacha-03, section 2.2), from which neither the machine's nor
 * another VM's or start's can be computed.
 */
#ifndef SEED_H
#define SEED_H

#include "types.h"

struct vm;

#define SEED_SIZE 32U  /* bytes, of the machine's and of a guest's */
#define SEED_STEPS 10U /* double rounds, of 300 instructions each */

/* Where the value of /chosen/rng-seed is in the `size` bytes at `tree`, a flattened device tree (Devicetree Specification
 * 0.4, chapter 5), and its length; NULL if the tree has none, or is malformed before it. Reads nothing outside. */
uint8_t *seed_find(uint8_t *tree, uint32_t size, uint32_t *length);

/* Keeps the machine's seed and wipes it from the tree. False: the tree has none of SEED_SIZE bytes or more. At boot. */
bool seed_take(uint8_t *tree, uint32_t size);

/* HChaCha20, a double round a step: `state` has 16 words, of which 0 to 3 and 12 to 15 are the result after SEED_STEPS. */
void seed_begin(uint32_t *state, const uint32_t *key, const uint32_t *input);
void seed_double_round(uint32_t *state);

/* Step number `step` of SEED_STEPS of giving a VM, whose memory is loaded, its seed; nothing if there is none for it. */
void seed_step(const struct vm *vm, unsigned step);

#endif
