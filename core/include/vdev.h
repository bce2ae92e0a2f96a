/* SPDX-License-Identifier: Apache-2.0 */
/* Emulated devices: ranges of guest-physical addresses that have no memory behind them. */
#ifndef VDEV_H
#define VDEV_H

#include "types.h"

struct vcpu;
struct vm;

#define VM_MAX_VDEVS 4U

struct vdev {
    gpa_t base;
    uint64_t size;
    /* Both mandatory, called without locks on the CPU of the VCPU that made the access; `width` is 1, 2, 4 or 8 bytes.
     * A register that does not exist reads 0 and ignores writes. */
    ulong (*read)(struct vcpu *v, gpa_t offset, unsigned width);
    void (*write)(struct vcpu *v, gpa_t offset, unsigned width, ulong value);
};

/* Adds a device to a VM at boot. Returns false when the VM has VM_MAX_VDEVS already. */
bool vdev_add(struct vm *vm, const struct vdev *dev);

/* The device at `gpa`, or NULL. */
const struct vdev *vdev_find(const struct vm *vm, gpa_t gpa);

#endif
