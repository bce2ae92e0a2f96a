/* SPDX-License-Identifier: Apache-2.0 */
/* Driver of the device that copies memory of the VM, in any alignment. */
#ifndef GUEST_SHARED_COPY_H
#define GUEST_SHARED_COPY_H

#include "shared.h"

struct copier {
    struct shared_channel channel;
};

/** Opens the VM's copies. SHARED_OK or SHARED_NO_DEVICE. */
int copy_open(struct copier *copier, const void *fdt);

/**
 * Copies 1 to 65535 bytes: SHARED_OK, SHARED_FULL, or SHARED_INVALID for another length, or if the
 * two areas are not in the same 4 GiB. shared_take(&copier->channel, ...) tells when it is over,
 * with its tag. The areas may overlap if `to` is below `from`. A copy that fails may have written a
 * part.
 */
int copy_submit(struct copier *copier, volatile void *to, const volatile void *from, size_t bytes,
                uint8_t tag);

/** The same, of any length, and waits until all is copied. Also returns a status, or SHARED_BUSY
 * while asynchronous requests wait. */
int copy_memory(struct copier *copier, volatile void *to, const volatile void *from, size_t bytes);

#endif
