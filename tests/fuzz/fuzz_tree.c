/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as the firmware's device tree. A seed that is found must lie in the tree, and taking it
 * must wipe it and nothing else. The buffer has the exact size of the input, so that the address
 * sanitizer detects reads outside of it.
 */
#include <string.h>

#include "fuzz.h"
#include "seed_parts.h"
#include "sysimage.h"

/* `before` is a copy of `tree` from before seed_take(). */
static const char *wrong(uint8_t *before, const uint8_t *tree, uint32_t size, bool taken)
{
    uint32_t length = 0;
    const uint8_t *seed = seed_find(before, size, &length);
    uint32_t at = seed == NULL ? size : (uint32_t)(seed - before);

    if (at > size || (seed != NULL && length > size - at)) {
        return "the seed that was found is not in the tree";
    }
    if (taken != (seed != NULL && length >= SYSIMAGE_SEED_SIZE)) {
        return "an absent or too short seed was taken, or a valid seed was not";
    }
    if (taken) {
        memset(before + at, 0, length);
    }
    return memcmp(before, tree, size) == 0 ? NULL
                                           : "the tree is not as it was, with its seed wiped";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *before = malloc(size), *tree = malloc(size);

    if (before != NULL && tree != NULL) {
        memcpy(before, data, size);
        memcpy(tree, data, size);
        fuzz_check(wrong(before, tree, (uint32_t)size, seed_take(tree, (uint32_t)size)));
    }
    free(before);
    free(tree);
    return 0;
}
