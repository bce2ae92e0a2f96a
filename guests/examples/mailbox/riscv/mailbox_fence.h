/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MAILBOX_FENCE_H
#define MAILBOX_FENCE_H

/**
 * Orders all earlier accesses before all later ones, for memory mapped as normal or as device
 * memory.
 */
static inline void mailbox_fence(void)
{
    __asm__ volatile("fence iorw, iorw" : : : "memory");
}

#endif
