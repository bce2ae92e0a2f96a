/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MAILBOX_FENCE_H
#define MAILBOX_FENCE_H

/** Nothing after it is done before what is before it, whether the memory is mapped as memory or as a device's. */
static inline void mailbox_fence(void)
{
    __asm__ volatile("fence iorw, iorw" : : : "memory");
}

#endif
