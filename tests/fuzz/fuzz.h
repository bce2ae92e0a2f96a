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

/* The rest of the generated input. */
struct input {
    const uint8_t *data;
    size_t left;
};

/* The next byte; zeros at the end. */
static inline uint8_t byte(struct input *in)
{
    in->left -= in->left != 0;
    return in->left != 0 ? *in->data++ : 0;
}

/* The next `count` bytes as a number. */
static inline uint64_t bytes(struct input *in, unsigned count)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < count; i++) {
        value = value << 8 | byte(in);
    }
    return value;
}

#endif
