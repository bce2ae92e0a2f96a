/* SPDX-License-Identifier: Apache-2.0 */
/* Emulated devices: ranges of guest-physical addresses that have no memory behind them. */
#ifndef VDEV_H
#define VDEV_H

#include "types.h"

struct vcpu;

#define VM_MAX_VDEVS 4U

struct vdev {
    gpa_t base;
    unsigned widths; /* sizes of the accesses that are answered, in bytes, or-ed: 1 | 2 | 4 | 8 */
    uint64_t size;
    /* Both mandatory, called without locks on the CPU of the VCPU that made the access; an access is of
     * 2^width_log2 bytes, naturally aligned; an architecture may let through `widths` only.
     * A register that does not exist reads 0 and ignores writes. */
    ulong (*read)(struct vcpu *v, gpa_t offset, unsigned width_log2);
    void (*write)(struct vcpu *v, gpa_t offset, unsigned width_log2, ulong value);
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
    for (const struct vdev *d = devs->dev; d < &devs->dev[VM_MAX_VDEVS]; d++) { /* one that is not there has size 0 */
        if (gpa - d->base < d->size) {
            return d;
        }
    }
    return NULL;
}

#endif
