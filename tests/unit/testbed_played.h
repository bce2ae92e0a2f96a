/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What virtio calls of accel and shared, and the test plays instead: units of AES-CBC
 * (cipher_unit.h), and accelerators and shared devices behind PCI functions (pci_backends.h). The
 * linker gives the testbed's functions to the components' tables (--wrap in tools/mk/unit.mk).
 */
#ifndef TESTBED_PLAYED_H
#define TESTBED_PLAYED_H

#include "pci_backends.h"

typedef bool testbed_played_begin_fn(uint32_t unit, const struct cipher_job *job);
typedef unsigned testbed_played_result_fn(uint32_t unit); /* enum cipher_outcome */
typedef bool testbed_played_stop_fn(uint32_t unit);

/* From the next call on. NULL, three times: accel has the units again. */
void testbed_played_units(testbed_played_begin_fn *begin, testbed_played_result_fn *result,
                          testbed_played_stop_fn *stop);

typedef bool testbed_played_pending_fn(unsigned device);
typedef void testbed_played_mask_fn(unsigned device, bool masked);

/* From the next call on, every VM has every accelerator. NULL, twice: those of accel again. */
void testbed_played_accelerators(testbed_played_pending_fn *pending, testbed_played_mask_fn *mask);

/* From the next call on, every VM has shared devices, whose pages are at `pages`, and one line:
 * number 0 of these functions. NULL, twice: those of shared again. */
void testbed_played_shared(uint64_t pages, testbed_played_pending_fn *pending,
                           testbed_played_mask_fn *mask);

#endif
