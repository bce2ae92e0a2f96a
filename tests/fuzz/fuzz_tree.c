/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as the firmware's device tree. The machine's seed that is found lies in the tree, taking it wipes it and nothing
 * else, and nothing outside the bytes is read, which the address sanitizer sees: they are allocated to the byte.
 */
#include <string.h>

#include "fuzz.h"
#include "seed.h"

/* `tree` has been searched by seed_take(), `before` has not. */
static const char *wrong(uint8_t *before, const uint8_t *tree, uint32_t size, bool taken)
{
    uint32_t length = 0;
    const uint8_t *seed = seed_find(before, size, &length);
    uint32_t at = seed == NULL ? size : (uint32_t)(seed - before);

    if (at > size || (seed != NULL && length > size - at)) {
        return "the seed that was found is not in the tree";
    }
    if (taken != (seed != NULL && length >= SEED_SIZE)) {
        return "a seed was taken that is not there, or is too short; or one that is there was not";
    }
    if (taken) {
        memset(before + at, 0, length);
    }
    return memcmp(before, tree, size) == 0 ? NULL : "the tree is not as it was, with its seed wiped";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *before = malloc(size), *tree = malloc(size);

    if (before != NULL && tree != NULL) {
        memcpy(before, data, size);
        memcpy(tree, data, size);
        fuzz_well(wrong(before, tree, (uint32_t)size, seed_take(tree, (uint32_t)size)));
    }
    free(before);
    free(tree);
    return 0;
}
