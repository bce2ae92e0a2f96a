/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices of other components behind PCI functions of a VM (docs/accelerators.md,
 * docs/hardware-io.md). A component registers those that it has (struct component).
 */
#ifndef PCI_BACKENDS_H
#define PCI_BACKENDS_H

#include "cipher_unit.h"
#include "types.h"

struct vm;

/* Devices of the fabric. */
struct pci_accelerators {
    /* Whether the VM has device number `device` of the fabric. After the component's boot. */
    bool (*exists)(const struct vm *vm, unsigned device);
    /* Whether a job of the device is over, or has failed, whose end raises an interrupt, masked or
     * not. The device exists. */
    bool (*pending)(const struct vm *vm, unsigned device);
    /* Masks the interrupt of the device. A reset of the device removes the mask. The device
     * exists. */
    void (*mask)(const struct vm *vm, unsigned device, bool masked);
};

/* A VM's devices shared by hardware. */
struct pci_shared_devices {
    /* Whether the VM has shared devices; then *pages is the guest-physical address of their pages.
     * After the component's boot. */
    bool (*pages)(const struct vm *vm, uint64_t *pages);
    /* Whether a device raises the interrupt of the VM's shared devices, masked or not. The VM has
     * such devices. */
    bool (*pending)(const struct vm *vm);
    /* Masks the interrupt of the VM's shared devices. The end of a life of the VM removes the mask.
     * The VM has such devices. */
    void (*mask)(const struct vm *vm, bool masked);
};

/* NULL: the component has none. At most one component has each. */
struct pci_backends {
    const struct pci_accelerators *accelerators;
    const struct pci_shared_devices *shared_devices;
    const struct cipher_units *cipher_units;
};

#endif
