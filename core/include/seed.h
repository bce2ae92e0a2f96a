/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Seeds for guests' random number generators, by the component `seed`. Firmware passes the
 * machine's seed in its device tree; each start of a VM gets its own seed. Without the component no
 * VM gets a seed.
 */
#ifndef SEED_H
#define SEED_H

#include "types.h"

struct vm;

#define SEED_SIZE 32U  /* bytes, of the machine's and of a guest's */
#define SEED_STEPS 10U /* double rounds, 300 instructions each */

/* Stores the machine's seed and wipes it from the tree. False if the tree has none of at least
 * SEED_SIZE bytes. At boot. */
bool seed_take(uint8_t *tree, uint32_t size);

/* Step number `step` of SEED_STEPS of writing a seed to a VM whose memory is loaded; no-op if it
 * gets none. */
void seed_step(const struct vm *vm, unsigned step);

/* Derives key number `number` of SEED_SIZE bytes, for a component's own generator, from the
 * machine's seed. At boot; false if the machine has none. */
bool seed_key(uint32_t *key, uint32_t number);

#endif
