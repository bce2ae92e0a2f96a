/* SPDX-License-Identifier: Apache-2.0 */
/* Driver of a virtio entropy device, with one request at a time (virtio_rng.h). The caller owns
 * struct virtio_rng. */
#include "virtio_rng.h"

#define QUEUE_REQUESTS 0U
#define ENTRIES 8U
#define WAIT_MS 10000U

int virtio_rng_open(struct virtio_rng *rng, struct pci_bus *bus, unsigned int number)
{
    int result = virtio_open(&rng->device, bus, VIRTIO_RNG, number, 0);

    if (result != VIRTIO_OK) {
        return result;
    }
    result = virtio_add_queue(&rng->device, QUEUE_REQUESTS, &rng->queue, ENTRIES);
    if (result == VIRTIO_OK) {
        virtio_start(&rng->device);
    }
    return result;
}

/* One request, which the device may answer with fewer bytes: their number, or a negative result. */
static int64_t draw(struct virtio_rng *rng, void *data, uint32_t bytes)
{
    uint32_t got = 0;
    int result = virtqueue_add(&rng->queue, &(struct virtqueue_part){data, bytes, true}, 1);

    if (result < 0) {
        return result;
    }
    virtqueue_notify(&rng->queue);
    if (virtio_wait(&rng->device, &rng->queue, WAIT_MS) != VIRTIO_OK ||
        virtqueue_take(&rng->queue, &got) < 0 || got == 0) {
        rng->queue.broken = true;
        virtio_reset(&rng->device);
        return VIRTIO_BROKEN;
    }
    return got;
}

int virtio_rng_read(struct virtio_rng *rng, void *data, uint32_t bytes)
{
    uint8_t *at = data;

    while (bytes > 0) {
        int64_t got = draw(rng, at, bytes);

        if (got < 0) {
            return (int)got;
        }
        at += got;
        bytes -= (uint32_t)got;
    }
    return VIRTIO_OK;
}
