/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MAILBOX_FENCE_H
#define MAILBOX_FENCE_H

/** Nothing after it is done before what is before it. */
static inline void mailbox_fence(void)
{
    __asm__ volatile("sync" : : : "memory");
}

#endif
