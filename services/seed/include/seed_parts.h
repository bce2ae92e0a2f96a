/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The component `seed`: seeds for guests' random number generators. Firmware passes the machine's
 * seed in its device tree; each start of a VM gets its own seed. The seed of a VM's start is
 * derived from the machine's by HChaCha20 (draft-irtf-cfrg-xchacha-03, section 2.2): neither the
 * machine's seed nor those of other VMs or starts can be computed from it.
 */
#ifndef SEED_PARTS_H
#define SEED_PARTS_H

#include "types.h"

struct vm;

/* As struct component's boot_seed(). */
bool seed_take(uint8_t *tree, uint32_t size);

/* As struct component's vm_loaded(): writes a seed to a VM, if it gets one. A double round of
 * HChaCha20 a step, 300 instructions. */
void seed_step(const struct vm *vm, unsigned step);

/* As struct component's make_key(). */
bool seed_key(uint32_t *key, uint32_t number);

/* Finds the value of /chosen/rng-seed, and its length, in the `size` bytes at `tree`, a flattened
 * device tree (Devicetree Specification 0.4, chapter 5). NULL if the tree has none, or is malformed
 * before it. Reads nothing outside the tree. */
uint8_t *seed_find(uint8_t *tree, uint32_t size, uint32_t *length);

#endif
