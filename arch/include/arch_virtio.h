/* SPDX-License-Identifier: Apache-2.0 */
/* What the component virtio needs of an architecture beyond arch.h. Provided by architectures with
 * the component virtio. */
#ifndef ARCH_VIRTIO_H
#define ARCH_VIRTIO_H

/* For the write function of an emulated device (vdev.h): the guest executes the store again, after
 * the interrupts that are pending for this CPU. No effect if the guest has removed the store's
 * instruction meanwhile. */
void arch_store_again(void);

#endif
