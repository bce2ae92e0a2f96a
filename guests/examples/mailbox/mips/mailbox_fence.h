/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MAILBOX_FENCE_H
#define MAILBOX_FENCE_H

/** Orders all earlier memory accesses before all later ones. */
static inline void mailbox_fence(void)
{
    __asm__ volatile("sync" : : : "memory");
}

#endif
