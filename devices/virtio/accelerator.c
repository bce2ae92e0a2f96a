/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device of the fabric as a PCI function: BAR 0 is the device's own page, which the component
 * accel maps, so a guest accesses it as it does without the function. BAR 2 can be the VM's memory
 * for DMA. INTA is source 21, that of all the VM's devices of the fabric; the fabric masks the
 * interrupt of a device whose function has "interrupt disable" set.
 */
#include "accel_abi.h"
#include "virtio.h"

#define CLASS_ACCELERATOR 0x120000U
#define ACCELERATOR_ID 0x10f0U /* of those that vendor 0x1af4 leaves to experiments */

static const char *accelerator_boot(struct virtio_device *dev)
{
    const struct pci_accelerators *accelerators = pci_backends.accelerators;

    dev->first_bar = ACCEL_PAGES + dev->config->device * ACCEL_PAGE;
    dev->first_bar_size = ACCEL_PAGE;
    return accelerators != NULL && accelerators->exists(dev->vm, dev->config->device)
               ? NULL
               : "the image has a PCI function of an accelerator that its "
                 "VM does not have";
}

static bool function_pending(const struct virtio_device *dev)
{
    return pci_backends.accelerators->pending(dev->vm, dev->config->device);
}

static void function_mask(const struct virtio_device *dev, bool masked)
{
    pci_backends.accelerators->mask(dev->vm, dev->config->device, masked);
}

VIRTIO_CLASS(accelerator) = {
    .type = VIRTIO_IMAGE_ACCELERATOR,
    .id = ACCELERATOR_ID,
    .pci_class = CLASS_ACCELERATOR,
    .boot = accelerator_boot,
    .pending = function_pending,
    .mask = function_mask,
};
