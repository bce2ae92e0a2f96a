/* SPDX-License-Identifier: Apache-2.0 */
/* Emulated devices: ranges of guest-physical addresses without memory. A VM's table of them is
 * filled at boot; exits look an address up in it. */
#ifndef VDEV_H
#define VDEV_H

#include "arch_types.h"
#include "types.h"

struct vcpu;

#define VM_MAX_VDEVS ARCH_VM_VDEVS

/* `base` is a multiple of 8. */
struct vdev {
    gpa_t base;      /* first guest-physical address */
    unsigned widths; /* supported access sizes in bytes, or-ed: 1 | 2 | 4 | 8 */
    uint64_t size;   /* bytes */
    /* Both mandatory, called without locks on the CPU of the VCPU that made the access. An access
     * has 2^width_log2 bytes and is naturally aligned; an architecture may restrict accesses to
     * `widths`. A register that does not exist reads 0 and ignores writes. */
    ulong (*read)(struct vcpu *v, gpa_t offset, unsigned width_log2);
    void (*write)(struct vcpu *v, gpa_t offset, unsigned width_log2, ulong value);
};

/* A VM's devices. Constant after boot. */
struct vdevs {
    unsigned count;         /* of devices in `dev` */
    const struct vdev *end; /* behind the last one; NULL: there is none */
    struct vdev dev[VM_MAX_VDEVS];
};

/* Adds a device at boot. False if there are VM_MAX_VDEVS already. */
bool vdev_add(struct vdevs *devs, const struct vdev *dev);

/* As vdev_add(); accesses find the device before the others. For one that is accessed often. */
bool vdev_add_first(struct vdevs *devs, const struct vdev *dev);

/* The device at `gpa`, or NULL. Inline: every emulated access calls it. */
static inline const struct vdev *vdev_find(const struct vdevs *devs, gpa_t gpa)
{
    const struct vdev *d = devs->dev; /* of size 0 if there is none */

    do {
        if (gpa - d->base < d->size) {
            return d;
        }
    } while (++d < devs->end);
    return NULL;
}

#endif
