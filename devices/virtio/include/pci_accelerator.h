/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device of the fabric as a PCI function (docs/accelerators.md): what the function needs of the
 * component accel, which defines these functions. Without that component, virtio's own ones know no
 * device.
 */
#ifndef PCI_ACCELERATOR_H
#define PCI_ACCELERATOR_H

#include "types.h"

struct vm;

#define ACCELERATOR_PAGES 0x18100000U /* guest-physical address of the page of device 0 */
#define ACCELERATOR_PAGE 0x1000U

/* Whether the VM has device number `device` of the fabric. After the component's boot. */
bool accelerator_exists(const struct vm *vm, unsigned device);

/* Whether a job of the device is over, or has failed, whose end raises an interrupt, masked or not.
 * The device exists. */
bool accelerator_pending(const struct vm *vm, unsigned device);

/* Masks the interrupt of the device. A reset of the device removes the mask. The device exists. */
void accelerator_mask(const struct vm *vm, unsigned device, bool masked);

#endif
