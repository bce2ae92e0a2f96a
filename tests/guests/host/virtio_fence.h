/* SPDX-License-Identifier: Apache-2.0 */
/* Stands for the header of the SDK on this machine, where the device is in the same thread. */
#ifndef GUEST_VIRTIO_FENCE_H
#define GUEST_VIRTIO_FENCE_H

static inline void virtio_fence(void)
{
    __asm__ volatile("" ::: "memory");
}

#endif
