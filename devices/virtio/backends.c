/* SPDX-License-Identifier: Apache-2.0 */
/* Finds at boot what other components have behind PCI functions (pci_backends.h), for the classes
 * of devices that such functions are. Owns pci_backends, which is constant afterwards. */
#include "component.h"

#include "virtio.h"

struct pci_backends pci_backends;

void pci_backends_boot(void)
{
    pci_backends = (struct pci_backends){NULL, NULL, NULL};
    FOR_EACH_COMPONENT(c)
    {
        if (c->pci != NULL && c->pci->accelerators != NULL) {
            pci_backends.accelerators = c->pci->accelerators;
        }
        if (c->pci != NULL && c->pci->shared_devices != NULL) {
            pci_backends.shared_devices = c->pci->shared_devices;
        }
        if (c->pci != NULL && c->pci->cipher_units != NULL) {
            pci_backends.cipher_units = c->pci->cipher_units;
        }
    }
}
