/* SPDX-License-Identifier: Apache-2.0 */
/* The memory barrier of the mailbox on MIPS32; each architecture has a header of this name with the
 * same function. */
#ifndef MAILBOX_FENCE_H
#define MAILBOX_FENCE_H

/** Orders all earlier memory accesses before all later ones. */
static inline void mailbox_fence(void)
{
    __asm__ volatile("sync" : : : "memory");
}

#endif
