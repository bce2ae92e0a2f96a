/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of the component `seed`. The seed of a VM's start is derived from the machine's by
 * HChaCha20 (draft-irtf-cfrg-xchacha-03, section 2.2): neither the machine's seed nor those of
 * other VMs or starts can be computed from it.
 */
#ifndef SEED_PARTS_H
#define SEED_PARTS_H

#include "seed.h"

/* Finds the value of /chosen/rng-seed, and its length, in the `size` bytes at `tree`, a flattened
 * device tree (Devicetree Specification 0.4, chapter 5). NULL if the tree has none, or is malformed
 * before it. Reads nothing outside the tree. */
uint8_t *seed_find(uint8_t *tree, uint32_t size, uint32_t *length);

#endif
