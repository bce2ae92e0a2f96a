/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A PCI function for a shared region, as the "Device Specification for Inter-VM shared memory device" with INTx has it: BAR 2 is
 * the region, BAR 0 has a doorbell for each VM that shares it. A guest's uio_pci_generic drives it.
 */
#include "virtio.h"

#define CLASS_RAM 0x050000U
#define IVSHMEM_ID 0x1110U

enum {
    INTERRUPT_MASK = 0,
    INTERRUPT_STATUS = 4, /* read and cleared */
    IV_POSITION = 8,      /* number of the VM */
    DOORBELL = 12,        /* VM number << 16 */
};

uint32_t ivshmem_read(struct virtio_device *dev, unsigned offset)
{
    switch (offset) {
    case INTERRUPT_MASK:
        return dev->mask;
    case INTERRUPT_STATUS:
        return virtio_take_isr(dev);
    case IV_POSITION:
        return dev->vm->id;
    default:
        return 0;
    }
}

/* Rings VM `number`, if it runs and has a function for the same region. */
static void ring(const struct virtio_device *dev, uint32_t number)
{
    struct virtio_bus *bus = number < hyp.nvms ? virtio_bus_of(&hyp.vms[number]) : NULL;

    for (unsigned i = 0; bus != NULL && i < bus->count; i++) {
        struct virtio_device *to = &bus->devices[i];

        if (to->class == &virtio_ivshmem && to->config->shared == dev->config->shared) {
            virtio_interrupt(to, VIRTIO_ISR_QUEUE);
        }
    }
}

void ivshmem_write(struct virtio_device *dev, unsigned offset, uint32_t value)
{
    if (offset == DOORBELL) {
        ring(dev, value >> 16);
    } else if (offset == INTERRUPT_MASK) {
        dev->mask = value;
    }
}

const struct virtio_class virtio_ivshmem = {.type = VIRTIO_IMAGE_IVSHMEM, .id = IVSHMEM_ID, .pci_class = CLASS_RAM};
