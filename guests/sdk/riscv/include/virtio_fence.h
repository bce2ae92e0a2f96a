/* SPDX-License-Identifier: Apache-2.0 */
/* The memory barrier of the drivers of PCI functions. In a header of its own, so that a build for
 * another machine can replace it. */
#ifndef GUEST_VIRTIO_FENCE_H
#define GUEST_VIRTIO_FENCE_H

/** Orders all accesses to memory and devices before it with those after it. */
static inline void virtio_fence(void)
{
    __asm__ volatile("fence iorw, iorw" ::: "memory");
}

#endif
