/* SPDX-License-Identifier: Apache-2.0 */
/* Shared memory with doorbells, the registers of QEMU's ivshmem: BAR 0 has the registers, BAR 2 is
 * the memory. */
#ifndef GUEST_IVSHMEM_H
#define GUEST_IVSHMEM_H

#include "pci.h"

struct ivshmem {
    struct pci_function function;
    uintptr_t registers;
    void *memory;
    size_t bytes;
};

/** Opens the `number`th device, and lets doorbells interrupt. False: there is none. */
bool ivshmem_open(struct ivshmem *shared, struct pci_bus *bus, unsigned int number);

/** Number of the own VM, for the doorbell of others. */
uint32_t ivshmem_own(const struct ivshmem *shared);

/** Rings the doorbell of VM `vm`; what was written to the memory before is visible there. */
void ivshmem_ring(const struct ivshmem *shared, uint16_t vm);

/** Whether the doorbell has rung since the last call. Lowers the interrupt. */
bool ivshmem_rung(const struct ivshmem *shared);

/** Sleeps on hart `hart` until the doorbell has rung. */
void ivshmem_wait(const struct ivshmem *shared, unsigned long hart);

#endif
