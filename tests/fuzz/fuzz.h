/* SPDX-License-Identifier: Apache-2.0 */
/* What the fuzz targets share. Each is a program of libFuzzer's: it calls LLVMFuzzerTestOneInput() with what it makes up. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the program, which libFuzzer takes for a finding and keeps the input of, if `wrong` says something. */
static inline void fuzz_well(const char *wrong)
{
    if (wrong != NULL) {
        fprintf(stderr, "fuzz: %s\n", wrong);
        abort();
    }
}

#endif
