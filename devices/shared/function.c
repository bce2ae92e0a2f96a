/* SPDX-License-Identifier: Apache-2.0 */
/* A VM's shared devices behind a PCI function of the VM (devices/virtio/hardware_io.c): their
 * interrupt. */
#include "shared.h"

bool shared_pages(const struct vm *vm, uint64_t *pages)
{
    const struct shared_client *c = shared_client_of(vm);

    if (c != NULL) {
        *pages = c->config->gpa;
    }
    return c != NULL;
}

bool shared_pending(const struct vm *vm)
{
    return (shared_read(FABRIC_SHARED_VM_IRQ) >> shared_client_of(vm)->number & 1U) != 0;
}

void shared_mask(const struct vm *vm, bool masked)
{
    shared_write(FABRIC_SHARED_VM_IRQ_MASK,
                 SHARED_PUT(FABRIC_SHARED_VM_IRQ_MASK_VM, shared_client_of(vm)->number) |
                     SHARED_PUT(FABRIC_SHARED_VM_IRQ_MASK_MASKED, masked));
}
