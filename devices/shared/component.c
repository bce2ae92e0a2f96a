/* SPDX-License-Identifier: Apache-2.0 */
/* Registers the devices shared by hardware: boot, the reset and stop of VMs, the bounds of apps'
 * jobs, and the PCI function of a VM's devices. shared.h declares what is listed here. */
#include "component.h"

#include "pci_backends.h"
#include "shared.h"

static const struct pci_shared_devices devices = {
    .pages = shared_pages, .pending = shared_pending, .mask = shared_mask};
static const struct pci_backends backends = {.shared_devices = &devices};

COMPONENT(shared, .boot = shared_boot, .vm_reset = shared_vm_reset, .vm_stop = shared_vm_stop,
          .resource_bound = shared_bound, .pci = &backends);
