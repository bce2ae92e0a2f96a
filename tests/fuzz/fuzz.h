/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations shared by the fuzz targets. libFuzzer calls LLVMFuzzerTestOneInput() with generated
 * input. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Aborts if `wrong` is not NULL; libFuzzer then saves the input as a finding. */
static inline void fuzz_check(const char *wrong)
{
    if (wrong != NULL) {
        fprintf(stderr, "fuzz: %s\n", wrong);
        abort();
    }
}

#endif
