/* SPDX-License-Identifier: Apache-2.0 */
/* Emulated devices: ranges of guest-physical addresses that have no memory behind them. */
#ifndef VDEV_H
#define VDEV_H

#include "types.h"

struct vcpu;

#define VM_MAX_VDEVS 4U

struct vdev {
    gpa_t base;
    uint64_t size;
    /* Both mandatory, called without locks on the CPU of the VCPU that made the access; `width` is 1, 2, 4 or 8 bytes.
     * A register that does not exist reads 0 and ignores writes. */
    ulong (*read)(struct vcpu *v, gpa_t offset, unsigned width);
    void (*write)(struct vcpu *v, gpa_t offset, unsigned width, ulong value);
};

/* A VM's devices. */
struct vdevs {
    unsigned count;
    struct vdev dev[VM_MAX_VDEVS];
};

/* Adds a device at boot. Returns false when there are VM_MAX_VDEVS already. */
bool vdev_add(struct vdevs *devs, const struct vdev *dev);

/* The device at `gpa`, or NULL. Inline: every emulated access goes through here. */
static inline const struct vdev *vdev_find(const struct vdevs *devs, gpa_t gpa)
{
    const struct vdev *end = &devs->dev[devs->count];

    for (const struct vdev *d = devs->dev; d < end; d++) {
        if (gpa - d->base < d->size) {
            return d;
        }
    }
    return NULL;
}

#endif
