/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Units of AES-CBC (cipher_unit.h) that the test plays, instead of those of fpga/vdm. The linker gives virtio's calls to the testbed
 * (--wrap in scripts/mk/unit.mk).
 */
#ifndef TESTBED_CIPHER_H
#define TESTBED_CIPHER_H

#include "cipher_unit.h"

typedef bool testbed_cipher_begin_fn(uint32_t unit, const struct cipher_job *job);
typedef unsigned testbed_cipher_result_fn(uint32_t unit); /* enum cipher_outcome */
typedef bool testbed_cipher_stop_fn(uint32_t unit);

/* From the next call on. NULL, three times: fpga/vdm has the units again. */
void testbed_cipher_play(testbed_cipher_begin_fn *begin, testbed_cipher_result_fn *result,
                         testbed_cipher_stop_fn *stop);

#endif
