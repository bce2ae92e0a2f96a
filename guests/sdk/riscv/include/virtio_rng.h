/* SPDX-License-Identifier: Apache-2.0 */
/* Driver of a virtio entropy device. */
#ifndef GUEST_VIRTIO_RNG_H
#define GUEST_VIRTIO_RNG_H

#include "virtio.h"

struct virtio_rng {
    struct virtio_device device;
    struct virtqueue queue;
};

/** Opens the `number`th entropy device. VIRTIO_OK, VIRTIO_NO_DEVICE, VIRTIO_BROKEN. */
int virtio_rng_open(struct virtio_rng *rng, struct pci_bus *bus, unsigned int number);

/** Fills `data` with `bytes` random bytes and waits for them. VIRTIO_OK; VIRTIO_BROKEN, after which
 * the device is reset. */
int virtio_rng_read(struct virtio_rng *rng, void *data, uint32_t bytes);

#endif
