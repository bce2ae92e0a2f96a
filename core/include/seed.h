/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Seeds for guests' random number generators. Firmware passes the machine's seed in its device
 * tree. Each start of a VM gets its own seed, derived by HChaCha20 (draft-irtf-cfrg-xchacha-03,
 * section 2.2), from which neither the machine's seed nor those of other VMs or starts can be
 * computed.
 */
#ifndef SEED_H
#define SEED_H

#include "types.h"

struct vm;

#define SEED_SIZE 32U  /* bytes, of the machine's and of a guest's */
#define SEED_STEPS 10U /* double rounds, 300 instructions each */

/* Finds the value of /chosen/rng-seed, and its length, in the `size` bytes at `tree`, a flattened
 * device tree (Devicetree Specification 0.4, chapter 5). NULL if the tree has none, or is malformed
 * before it. Reads nothing outside the tree. */
uint8_t *seed_find(uint8_t *tree, uint32_t size, uint32_t *length);

/* Stores the machine's seed and wipes it from the tree. False if the tree has none of at least
 * SEED_SIZE bytes. At boot. */
bool seed_take(uint8_t *tree, uint32_t size);

/* HChaCha20, one double round per call: words 0 to 3 and 12 to 15 of the 16 in `state` are the
 * result after SEED_STEPS. */
void seed_begin(uint32_t *state, const uint32_t *key, const uint32_t *input);
void seed_double_round(uint32_t *state);

/* Step number `step` of SEED_STEPS of writing a seed to a VM whose memory is loaded; no-op if it
 * gets none. */
void seed_step(const struct vm *vm, unsigned step);

#endif
