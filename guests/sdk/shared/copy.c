/* SPDX-License-Identifier: Apache-2.0 */
/* Driver of the device that copies memory (shared_copy.h). The caller owns struct copier. */
#include "shared_copy.h"

#define OP_COPY 0U
#define PART 32768U /* bytes of one request of a long copy */
#define SYNCHRONOUS 0U

int copy_open(struct copier *copier, const void *fdt)
{
    struct shared_device device;
    int wrong = shared_find(&device, fdt, "tessera,shared-copy");

    if (wrong == SHARED_OK) {
        shared_open(&copier->channel, &device, 0);
    }
    return wrong;
}

/* The device takes the upper bits of both addresses from the destination's. */
int copy_submit(struct copier *copier, volatile void *to, const volatile void *from, size_t bytes,
                uint8_t tag)
{
    if (bytes < 1 || bytes > UINT16_MAX || (uintptr_t)to >> 32 != (uintptr_t)from >> 32) {
        return SHARED_INVALID;
    }
    return shared_submit(&copier->channel, &(struct shared_request){to, (uint32_t)(uintptr_t)from,
                                                                    (uint16_t)bytes, OP_COPY, tag});
}

int copy_memory(struct copier *copier, volatile void *to, const volatile void *from, size_t bytes)
{
    int wrong = copier->channel.waiting == 0 ? SHARED_OK : SHARED_BUSY;

    for (size_t at = 0; at < bytes && wrong == SHARED_OK; at += PART) {
        size_t part = bytes - at < PART ? bytes - at : PART;
        struct shared_completion done;

        wrong = copy_submit(copier, (volatile uint8_t *)to + at,
                            (const volatile uint8_t *)from + at, part, SYNCHRONOUS);
        if (wrong == SHARED_OK) {
            shared_wait(&copier->channel, &done);
            wrong = done.status;
        }
    }
    return wrong;
}
