/* SPDX-License-Identifier: Apache-2.0 */
/* The memory barrier of the mailbox on RISC-V; each architecture has a header of this name with the
 * same function. */
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
