/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PCI functions behind an ECAM host bridge ("pci-host-ecam-generic"), on bus 0: QEMU's `virt`, and
 * VMs with virtual PCI functions (docs/networking.md). Folder `virtio`, VIRTIO_SDK in
 * guests-bare.mk. Interrupts are INTA, level-triggered; there is no MSI.
 */
#ifndef GUEST_PCI_H
#define GUEST_PCI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PCI_BARS 6U

/** Registers of the configuration space: byte offsets. */
enum pci_register {
    PCI_VENDOR = 0x00,
    PCI_DEVICE = 0x02,
    PCI_COMMAND = 0x04,
    PCI_STATUS = 0x06,
    PCI_BAR = 0x10,
    PCI_CAPABILITIES = 0x34,
    PCI_PIN = 0x3d,
};

#define PCI_COMMAND_MEMORY 0x0002U
#define PCI_COMMAND_MASTER 0x0004U
#define PCI_COMMAND_NO_INTX 0x0400U
#define PCI_STATUS_INTX 0x0008U
#define PCI_STATUS_CAPABILITIES 0x0010U
#define PCI_CAPABILITY_VENDOR 0x09U

/** Bus 0 as the device tree describes it. */
struct pci_bus {
    uintptr_t ecam;
    unsigned int devices; /* whose configuration space the bridge has: 1 .. 32 */
    /* unused addresses of the 32-bit memory range, for BARs without an address */
    uint32_t next, end;
    const void *map; /* interrupt-map */
    uint32_t map_bytes;
    uint32_t map_device_mask; /* of interrupt-map-mask's first cell */
};

/** A function. */
struct pci_function {
    struct pci_bus *bus;
    uintptr_t config; /* its 4 KiB of configuration space */
    uint32_t irq;     /* source of the interrupt controller, 0: none */
};

/** Finds the bridge. False: the device tree has none. */
bool pci_open(struct pci_bus *bus, const void *fdt);

/** Function 0 of the `number`th device (from 0) with these ids. False: there are fewer. */
bool pci_find(struct pci_bus *bus, uint16_t vendor, uint16_t device, unsigned int number,
              struct pci_function *function);

/** Reads and writes of configuration space; `offset` is a multiple of the width, below 4096. */
static inline uint8_t pci_read8(const struct pci_function *function, unsigned int offset)
{
    return *(const volatile uint8_t *)(function->config + offset);
}

static inline uint16_t pci_read16(const struct pci_function *function, unsigned int offset)
{
    return *(const volatile uint16_t *)(function->config + offset);
}

static inline uint32_t pci_read32(const struct pci_function *function, unsigned int offset)
{
    return *(const volatile uint32_t *)(function->config + offset);
}

static inline void pci_write16(const struct pci_function *function, unsigned int offset,
                               uint16_t value)
{
    *(volatile uint16_t *)(function->config + offset) = value;
}

static inline void pci_write32(const struct pci_function *function, unsigned int offset,
                               uint32_t value)
{
    *(volatile uint32_t *)(function->config + offset) = value;
}

/** Offset of the first capability `id` after the one at `after` (0: of all), 0: there is none. Ends
 * for any list. */
unsigned int pci_capability(const struct pci_function *function, uint8_t id, unsigned int after);

/**
 * Address and size of memory BAR `index`; assigns an address if it has none. 0: no memory BAR, or
 * no address is left. Call before pci_enable().
 */
uintptr_t pci_bar(struct pci_function *function, unsigned int index, size_t *bytes);

/** Lets the function decode its BARs, access memory and interrupt. */
void pci_enable(const struct pci_function *function);

/** Ends pci_enable(): the function accesses no memory and does not interrupt. */
void pci_disable(const struct pci_function *function);

#endif
