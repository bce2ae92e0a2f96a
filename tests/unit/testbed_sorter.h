/* SPDX-License-Identifier: Apache-2.0 */
/* A model of the fabric's sorters behind host_registers, in tests of core/sorter.c. */
#ifndef TESTBED_SORTER_H
#define TESTBED_SORTER_H

#include "sorter.h"

/* The fabric that the hypervisor finds; a test may change it before a boot. */
struct testbed_fabric {
    unsigned magic, sorters, depth;
    bool sticky;    /* REMOVE has no effect */
    uint64_t noise; /* bits of HEAD beyond a value of 0 .. SORTER_NODES - 1 */
    unsigned reads, writes;
};
extern struct testbed_fabric testbed_fabric;

/* The fabric of most tests; its sorters keep what they hold. */
void testbed_fabric_reset(void);

/* Puts an entry into a sorter, as software before the hypervisor could. */
void testbed_sorter_put(unsigned sorter, uint64_t key, unsigned value);

/* Makes all sorters empty. */
void testbed_sorters_clear(void);

/* What is wrong with a queue and its sorter, or NULL. */
const char *testbed_sorter_violation(const struct sorter *q);

/* Number of entries of a sorter. */
unsigned testbed_sorter_count(unsigned sorter);

#endif
