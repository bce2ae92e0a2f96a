/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of the VMs' PCI buses, and the classes that this build has. boot.c sets up the
 * functions. */
#include "virtio.h"

extern const struct virtio_class __start_virtio_classes[], __stop_virtio_classes[];

/* owner: this file; constant, but for what they guard */
struct virtio_device virtio_devices[VIRTIO_MAX_FUNCTIONS];
unsigned virtio_device_count; /* as virtio_devices */

unsigned virtio_count_before(const struct virtio_device *dev)
{
    unsigned count = 0;

    for (const struct virtio_device *other = virtio_devices; other < dev; other++) {
        count += other->class == dev->class ? 1U : 0;
    }
    return count;
}

const struct virtio_class *virtio_class_of(uint32_t kind)
{
    for (const struct virtio_class *c = __start_virtio_classes; c != __stop_virtio_classes; c++) {
        if (c->type == kind) {
            return c;
        }
    }
    return NULL;
}
