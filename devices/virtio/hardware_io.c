/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A VM's devices shared by hardware as one PCI function: BAR 0 are their pages, which the component
 * shared maps, so a guest accesses them as it does without the function. BAR 2 can be the VM's
 * memory for DMA. INTA is the source of all the VM's shared devices; the hardware masks it while
 * the function has "interrupt disable" set.
 */
#include "virtio.h"

#define CLASS_HARDWARE_IO 0x088000U /* a system peripheral, other */
#define HARDWARE_IO_ID 0x10f1U      /* of those that vendor 0x1af4 leaves to experiments */
#define PAGES_SIZE 0x8000U          /* a page of 4 KiB for each of 8 devices */

static const char *hardware_io_boot(struct virtio_device *dev)
{
    const struct pci_shared_devices *shared = pci_backends.shared_devices;

    if (shared == NULL || !shared->pages(dev->vm, &dev->first_bar)) {
        return "the image has a PCI function of shared devices that its VM does not have";
    }
    dev->first_bar_size = PAGES_SIZE;
    return dev->first_bar % PAGES_SIZE == 0 && dev->first_bar >> 32 == 0
               ? NULL
               : "the pages of a VM's shared devices cannot be a BAR";
}

static bool function_pending(const struct virtio_device *dev)
{
    return pci_backends.shared_devices->pending(dev->vm);
}

static void function_mask(const struct virtio_device *dev, bool masked)
{
    pci_backends.shared_devices->mask(dev->vm, masked);
}

VIRTIO_CLASS(hardware_io) = {
    .type = VIRTIO_IMAGE_HARDWARE_IO,
    .id = HARDWARE_IO_ID,
    .pci_class = CLASS_HARDWARE_IO,
    .boot = hardware_io_boot,
    .pending = function_pending,
    .mask = function_mask,
};
