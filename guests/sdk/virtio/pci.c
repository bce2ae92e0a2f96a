/* SPDX-License-Identifier: Apache-2.0 */
/* Finds PCI functions, and assigns addresses to their BARs (pci.h). The caller owns struct pci_bus,
 * which has the next free address. */
#include "pci.h"

#include "fdt.h"

#define COMPATIBLE "pci-host-ecam-generic"
#define DEVICE_BYTES 0x8000U /* 8 functions of 4 KiB of configuration space */
#define DEVICES 32U
#define NO_VENDOR 0xffffU
#define FIRST_CAPABILITY 0x40U
#define LAST_CAPABILITY 0xfcU
#define CAPABILITIES_MAX 48U /* of 4 bytes in 192: a list with more is a loop */

/* Cells of the device tree's properties: a PCI address has three, an address of the parent and a
 * size two each. */
#define RANGE_CELLS 7U
#define RANGE_SPACE 0x03000000U /* of the first cell */
#define RANGE_MEMORY32 0x02000000U
/* PCI address, pin, phandle, source: the interrupt controller has no address */
#define MAP_CELLS 6U
#define MAP_PIN 3U
#define MAP_SOURCE 5U
#define DEVICE_SHIFT 11U /* of the device number in the first cell of a PCI address */

#define BAR_IO 1U
#define BAR_TYPE 6U
#define BAR_64 4U
#define BAR_FLAGS 15U

/* The first 32-bit memory range, if its addresses are the same on both sides. */
static void find_range(struct pci_bus *bus, const void *fdt)
{
    uint32_t length;
    const void *ranges = fdt_device(fdt, COMPATIBLE, "ranges", &length);

    for (uint32_t cell = 0; ranges != NULL && bus->end == 0 && cell + RANGE_CELLS <= length / 4U;
         cell += RANGE_CELLS) {
        uint64_t start = fdt_cell64(ranges, length, cell + 1U),
                 bytes = fdt_cell64(ranges, length, cell + 5U);

        if ((fdt_cell(ranges, length, cell) & RANGE_SPACE) == RANGE_MEMORY32 &&
            start == fdt_cell64(ranges, length, cell + 3U) && start + bytes - 1U <= UINT32_MAX &&
            bytes != 0) {
            bus->next = (uint32_t)start;
            bus->end = (uint32_t)(start + bytes - 1U);
        }
    }
}

bool pci_open(struct pci_bus *bus, const void *fdt)
{
    uint32_t length;
    const void *reg = fdt_device(fdt, COMPATIBLE, "reg", &length);
    uint64_t bytes;

    *bus = (struct pci_bus){.ecam = 0};
    if (reg == NULL) {
        return false;
    }
    bus->ecam = (uintptr_t)fdt_cell64(reg, length, 0);
    bytes = fdt_cell64(reg, length, 2);
    bus->devices = bytes / DEVICE_BYTES < DEVICES ? (unsigned int)(bytes / DEVICE_BYTES) : DEVICES;
    find_range(bus, fdt);
    bus->map = fdt_device(fdt, COMPATIBLE, "interrupt-map", &bus->map_bytes);
    reg = fdt_device(fdt, COMPATIBLE, "interrupt-map-mask", &length);
    bus->map_device_mask = reg != NULL ? fdt_cell(reg, length, 0) : 0;
    return true;
}

/* The source of the interrupt controller for a device's pin (1: INTA). */
static uint32_t find_irq(const struct pci_bus *bus, unsigned int device, uint32_t pin)
{
    uint32_t wanted = device << DEVICE_SHIFT & bus->map_device_mask;

    for (uint32_t cell = 0; bus->map != NULL && cell + MAP_CELLS <= bus->map_bytes / 4U;
         cell += MAP_CELLS) {
        if (fdt_cell(bus->map, bus->map_bytes, cell) == wanted &&
            fdt_cell(bus->map, bus->map_bytes, cell + MAP_PIN) == pin) {
            return fdt_cell(bus->map, bus->map_bytes, cell + MAP_SOURCE);
        }
    }
    return 0;
}

bool pci_find(struct pci_bus *bus, uint16_t vendor, uint16_t device, unsigned int number,
              struct pci_function *function)
{
    for (unsigned int i = 0; i < bus->devices; i++) {
        *function =
            (struct pci_function){.bus = bus, .config = bus->ecam + (uintptr_t)i * DEVICE_BYTES};
        if (pci_read16(function, PCI_VENDOR) != vendor ||
            pci_read16(function, PCI_DEVICE) != device) {
            continue;
        }
        if (number == 0) {
            function->irq = find_irq(bus, i, pci_read8(function, PCI_PIN));
            return true;
        }
        number--;
    }
    return false;
}

unsigned int pci_capability(const struct pci_function *function, uint8_t id, unsigned int after)
{
    unsigned int at = after != 0 ? after + 1U : PCI_CAPABILITIES;

    if ((pci_read16(function, PCI_STATUS) & PCI_STATUS_CAPABILITIES) == 0) {
        return 0;
    }
    for (unsigned int i = 0; i < CAPABILITIES_MAX; i++) {
        unsigned int next = pci_read8(function, at) & LAST_CAPABILITY;

        if (next < FIRST_CAPABILITY) {
            return 0;
        }
        if (pci_read8(function, next) == id) {
            return next;
        }
        at = next + 1U;
    }
    return 0;
}

/* The next address for a BAR of this size, a power of two; 0: none is left. */
static uint32_t take_address(struct pci_bus *bus, uint32_t bytes)
{
    uint32_t start = (bus->next + (bytes - 1U)) & ~(bytes - 1U);

    if (start == 0 || start < bus->next || start > bus->end || bus->end - start < bytes - 1U) {
        return 0;
    }
    bus->next = bus->end - start >= bytes ? start + bytes : bus->end;
    return start;
}

/* Writes all ones, which a BAR answers with the bits of its address that it has; then restores
 * it. */
static uint32_t bar_size(const struct pci_function *function, unsigned int offset)
{
    uint16_t command = pci_read16(function, PCI_COMMAND);
    uint32_t value = pci_read32(function, offset), mask;

    pci_write16(function, PCI_COMMAND, command & (uint16_t)~PCI_COMMAND_MEMORY);
    pci_write32(function, offset, UINT32_MAX);
    mask = pci_read32(function, offset) & ~BAR_FLAGS;
    pci_write32(function, offset, value);
    pci_write16(function, PCI_COMMAND, command);
    return ~mask + 1U; /* 0 for a BAR that is not implemented, or has 4 GiB */
}

uintptr_t pci_bar(struct pci_function *function, unsigned int index, size_t *bytes)
{
    unsigned int offset = PCI_BAR + 4U * index;
    uint32_t low, high = 0, size;
    bool wide;

    if (index >= PCI_BARS || (pci_read32(function, offset) & BAR_IO) != 0) {
        return 0;
    }
    size = bar_size(function, offset);
    low = pci_read32(function, offset);
    wide = (low & BAR_TYPE) == BAR_64 && index + 1U < PCI_BARS;
    if (wide) {
        high = pci_read32(function, offset + 4U);
    }
    if (size == 0 || (size & (size - 1U)) != 0) {
        return 0;
    }
    if (high == 0 && (low & ~BAR_FLAGS) == 0) {
        pci_write32(function, offset, take_address(function->bus, size));
        low = pci_read32(function, offset);
    }
    *bytes = size;
    return (uintptr_t)((uint64_t)high << 32 | (low & ~BAR_FLAGS));
}

void pci_enable(const struct pci_function *function)
{
    uint16_t command = pci_read16(function, PCI_COMMAND);

    command &= (uint16_t)~PCI_COMMAND_NO_INTX;
    pci_write16(function, PCI_COMMAND, command | PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
}

void pci_disable(const struct pci_function *function)
{
    uint16_t command = pci_read16(function, PCI_COMMAND);

    command &= (uint16_t)~PCI_COMMAND_MASTER;
    pci_write16(function, PCI_COMMAND, command | PCI_COMMAND_NO_INTX);
}
