/* SPDX-License-Identifier: Apache-2.0 */
/* A VM's shared devices behind a PCI function of the VM (devices/virtio/hardware_io.c): their
 * interrupt. */
#include "io.h"
#include "pci_hardware_io.h"

bool hardware_io_pages(const struct vm *vm, uint64_t *pages)
{
    const struct io_client *c = io_client_of(vm);

    if (c != NULL) {
        *pages = c->config->gpa;
    }
    return c != NULL;
}

bool hardware_io_pending(const struct vm *vm)
{
    return (io_read(FABRIC_SHARED_VM_IRQ) >> io_client_of(vm)->number & 1U) != 0;
}

void hardware_io_mask(const struct vm *vm, bool masked)
{
    io_write(FABRIC_SHARED_VM_IRQ_MASK,
             IO_PUT(FABRIC_SHARED_VM_IRQ_MASK_VM, io_client_of(vm)->number) |
                 IO_PUT(FABRIC_SHARED_VM_IRQ_MASK_MASKED, masked));
}
