/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A VM's devices shared by hardware as a PCI function (docs/hardware-io.md): what the function
 * needs of the component shared, which defines these functions. Without that component, virtio's
 * own ones know no device.
 */
#ifndef PCI_HARDWARE_IO_H
#define PCI_HARDWARE_IO_H

#include "types.h"

struct vm;

/* Whether the VM has shared devices; then *pages is the guest-physical address of their pages.
 * After the component's boot. */
bool hardware_io_pages(const struct vm *vm, uint64_t *pages);

/* Whether a device raises the interrupt of the VM's shared devices, masked or not. The VM has such
 * devices. */
bool hardware_io_pending(const struct vm *vm);

/* Masks the interrupt of the VM's shared devices. The end of a life of the VM removes the mask. The
 * VM has such devices. */
void hardware_io_mask(const struct vm *vm, bool masked);

#endif
