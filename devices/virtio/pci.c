/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A VM's virtual PCI bus: configuration space behind ECAM (PCI Express Base Specification,
 * section 7.2.2), functions without MSI, BARs at fixed addresses. Function n is function 0 of
 * device n of bus 0; its interrupt is INTA, level-triggered, source VIRTIO_IRQ + n of the VM's
 * interrupt controller, unless its class has another one. host.c has what differs for functions of
 * the machine.
 */
#include "arch.h"
#include "pci_regs.h"
#include "virtio.h"

#define VIRTIO_ID 0x1040U /* + device type */
#define VIRTIO_SUBSYSTEM 0x1100U
#define REVISION 1U /* of virtio 1.x */

#define CAPABILITIES 4U
#define CAPABILITY_SIZE 20U
#define BAR_PREFETCHABLE 8U

/* Parts of BAR 0, of 4 KiB each: virtio 1.2, section 4.1.4. */
enum {
    PART_COMMON = 0x0000,
    PART_ISR = 0x1000,
    PART_CONFIG = 0x2000,
    PART_NOTIFY = 0x3000,
};
#define PART_MASK 0x3000U

/* cap_vndr, cap_next, cap_len and cfg_type; bar and id; offset; length; notify_off_multiplier.
 * `number` counts from 1, as cfg_type; the last one has no next. queue_notify_off is 0 and so is
 * its multiplier: all queues are notified at one address, by their numbers. */
#define CAPABILITY_NEXT(number) \
    ((number) < CAPABILITIES ? PCI_CAPABILITY + (number) * CAPABILITY_SIZE : 0U)
#define CAPABILITY(number, offset, length)                                                        \
    CAPABILITY_VENDOR | CAPABILITY_NEXT(number) << 8 | CAPABILITY_SIZE << 16 | (number) << 24, 0, \
        offset, length, 0

static const uint32_t capabilities[] = {CAPABILITY(1U, PART_COMMON, 0x38),
                                        CAPABILITY(2U, PART_NOTIFY, 4), CAPABILITY(3U, PART_ISR, 4),
                                        CAPABILITY(4U, PART_CONFIG, 0x1000)};

/* --- configuration space --- */

static bool is_virtio(const struct virtio_device *dev)
{
    return dev->class->id == 0;
}

/* BAR 0 are pages of hardware, and BAR 2 can be memory for DMA. */
static bool is_hardware(const struct virtio_device *dev)
{
    return dev->class->mask != NULL;
}

static bool is_second_bar(const struct virtio_device *dev, const struct sysimage_region *region)
{
    if (is_hardware(dev)) {
        return region->kind == SYSIMAGE_REGION_DMA && (dev->config->flags & VIRTIO_IMAGE_DMA) != 0;
    }
    return region->kind == SYSIMAGE_REGION_SHARED && region->detail == dev->config->shared;
}

/* The region of an ivshmem function, or memory for DMA. NULL for other functions. */
static const struct sysimage_region *find_second_bar(const struct virtio_device *dev)
{
    const struct memmap *map = &dev->vm->memmap;

    for (unsigned i = 0; !is_virtio(dev) && i < map->count; i++) {
        if (is_second_bar(dev, &map->regions[i])) {
            return &map->regions[i];
        }
    }
    return NULL;
}

static uint32_t id_of(const struct virtio_device *dev)
{
    return is_virtio(dev) ? VIRTIO_ID + dev->class->type : dev->class->id;
}

static uint32_t subsystem_of(const struct virtio_device *dev)
{
    return is_hardware(dev) ? dev->config->task : VIRTIO_SUBSYSTEM;
}

static uint64_t bar(const struct virtio_device *dev, unsigned number, uint64_t address,
                    uint64_t size)
{
    return (dev->probing >> number & 1U) != 0 ? ~(size - 1U) : address;
}

static uint32_t bars_read(const struct virtio_device *dev, unsigned offset)
{
    const struct sysimage_region *second = dev->second_bar;

    if (offset == PCI_BAR0) {
        return (uint32_t)bar(dev, 0, dev->first_bar, dev->first_bar_size);
    }
    if (second == NULL) {
        return 0;
    }
    if (offset == PCI_BAR2) {
        return (uint32_t)bar(dev, 2, second->gpa, second->size) | BAR_64BIT | BAR_PREFETCHABLE;
    }
    return offset == PCI_BAR3 ? (uint32_t)(bar(dev, 3, second->gpa, second->size) >> 32) : 0;
}

static uint32_t capability_read(const struct virtio_device *dev, unsigned offset)
{
    return is_virtio(dev) && offset < sizeof(capabilities) ? capabilities[offset / 4U] : 0;
}

static uint32_t command_and_status(const struct virtio_device *dev)
{
    bool pending = dev->class->pending != NULL ? dev->class->pending(dev) : dev->isr != 0;

    return dev->command | (pending ? STATUS_INTERRUPT : 0) |
           (is_virtio(dev) ? STATUS_CAPABILITIES : 0);
}

static uint32_t config_word(const struct virtio_device *dev, unsigned offset)
{
    if (dev->class->config_space != NULL) {
        return dev->class->config_space(dev, offset);
    }
    switch (offset) {
    case PCI_ID:
        return VENDOR | id_of(dev) << 16;
    case PCI_COMMAND:
        return command_and_status(dev);
    case PCI_CLASS:
        return REVISION | dev->class->pci_class << 8;
    case PCI_SUBSYSTEM:
        return VENDOR | subsystem_of(dev) << 16;
    case PCI_CAPABILITIES:
        return is_virtio(dev) ? PCI_CAPABILITY : 0;
    case PCI_INTERRUPT:
        return 1U << 8 | dev->interrupt_line; /* INTA */
    default:
        return offset >= PCI_CAPABILITY ? capability_read(dev, offset - PCI_CAPABILITY)
                                        : bars_read(dev, offset);
    }
}

/* The function whose configuration space has `offset` of the ECAM, or NULL. */
static struct virtio_device *function_at(const struct vcpu *v, gpa_t offset)
{
    const struct virtio_bus *bus = virtio_bus_of(v->vm);
    ulong device = offset >> 15;

    return device < bus->count && (offset >> 12 & 7U) == 0 ? &bus->devices[device] : NULL;
}

static ulong ecam_read(struct vcpu *v, gpa_t offset, unsigned width_log2)
{
    const struct virtio_device *dev = function_at(v, offset);

    (void)width_log2;
    return dev != NULL ? config_word(dev, offset & 0xffcU) >> (offset & 3U) * 8U : ALL_ONES;
}

/* With vm->lock held. */
static uint32_t command_of(const struct virtio_device *dev)
{
    return dev->class->command != NULL ? config_word(dev, PCI_COMMAND) : dev->command;
}

/* A write of one byte of the register, or of both. */
static void command_write(struct virtio_device *dev, unsigned byte, unsigned width_log2,
                          uint32_t value)
{
    uint32_t mask = width_log2 == 0 ? 0xffU << byte * 8U : 0xffffU;
    uint32_t command;

    spin_lock(&dev->vm->lock);
    command = ((command_of(dev) & ~mask) | (value << byte * 8U & mask)) & COMMAND_BITS;
    if (dev->class->command != NULL) {
        dev->class->command(dev, command);
    } else {
        dev->command = command;
        virtio_set_line_locked(dev);
    }
    vm_unlock(dev->vm);
    virtio_command_written(dev);
}

void virtio_pci_reset(struct virtio_device *dev)
{
    dev->command = 0;
    dev->isr = 0;
    dev->probing = 0;
    dev->interrupt_line = 0;
    dev->mask = 0;
    if (dev->class->mask != NULL) {
        dev->class->mask(dev, false);
    }
}

/* A BAR has a fixed address; a write of all ones makes it show its size (PCI Local Bus
 * Specification 3.0, section 6.2.5.1). */
static void bar_write(struct virtio_device *dev, unsigned number, uint32_t value)
{
    if (value == ALL_ONES) {
        dev->probing |= 1U << number;
    } else {
        dev->probing &= ~(1U << number);
    }
}

static void ecam_write(struct vcpu *v, gpa_t offset, unsigned width_log2, ulong value)
{
    struct virtio_device *dev = function_at(v, offset);
    unsigned word = (unsigned)offset & 0xfffU;

    if (dev == NULL) {
        return;
    }
    if (word == PCI_COMMAND || word == PCI_COMMAND + 1U) {
        command_write(dev, word - PCI_COMMAND, width_log2, (uint32_t)value);
    } else if (word - PCI_BAR0 < 4U * PCI_BARS && word % 4U == 0) {
        bar_write(dev, (word - PCI_BAR0) / 4U, (uint32_t)value);
    } else if (word == PCI_INTERRUPT) {
        dev->interrupt_line = (uint8_t)value;
    }
}

/* --- BAR 0 --- */

static uint32_t bar_read(struct virtio_device *dev, unsigned offset)
{
    unsigned part = offset & PART_MASK, word = offset & 0xffcU;

    if (!is_virtio(dev)) {
        return part == 0 && !is_hardware(dev) ? ivshmem_read(dev, word) : 0;
    }
    if (part == PART_COMMON) {
        return virtio_common_read(dev, word);
    }
    if (part == PART_ISR) {
        return word == 0 ? virtio_take_isr(dev) : 0;
    }
    return part == PART_CONFIG && dev->class->config != NULL ? dev->class->config(dev, word) : 0;
}

static ulong bars_load(struct vcpu *v, gpa_t offset, unsigned width_log2)
{
    struct virtio_device *dev = &virtio_bus_of(v->vm)->devices[offset / VIRTIO_BAR_SIZE];

    (void)width_log2;
    if ((dev->command & COMMAND_MEMORY) == 0) {
        return ALL_ONES;
    }
    return bar_read(dev, offset % VIRTIO_BAR_SIZE) >> (offset & 3U) * 8U;
}

static void bars_store_register(struct virtio_device *dev, unsigned offset, unsigned width_log2,
                                uint32_t value)
{
    if ((dev->command & COMMAND_MEMORY) == 0) {
        return;
    }
    if (is_hardware(dev)) {
        return; /* its BAR 0 is elsewhere */
    }
    if (!is_virtio(dev)) {
        ivshmem_write(dev, offset, width_log2, value);
    } else if ((offset & PART_MASK) == PART_COMMON) {
        virtio_common_write(dev, offset, width_log2, value);
    }
}

static void bars_store(struct vcpu *v, gpa_t offset, unsigned width_log2, ulong value)
{
    struct virtio_device *dev = &virtio_bus_of(v->vm)->devices[offset / VIRTIO_BAR_SIZE];

    /* Only at that address: a misaligned store comes in pieces, and each would otherwise do a step,
     * without a polling point between them. Also while memory is not decoded, which only works the
     * queue off earlier: a check would cost 3 instructions. */
    if (offset % VIRTIO_BAR_SIZE == PART_NOTIFY) {
        virtio_notify(dev, value & 0xffffU);
    } else {
        bars_store_register(dev, offset % VIRTIO_BAR_SIZE, width_log2, (uint32_t)value);
    }
}

bool virtio_pci_init(struct vm *vm)
{
    const struct virtio_bus *bus = virtio_bus_of(vm);
    const struct vdev ecam = {.base = VIRTIO_ECAM,
                              .size = VIRTIO_ECAM_SIZE,
                              .widths = 1 | 2 | 4,
                              .read = ecam_read,
                              .write = ecam_write};
    const struct vdev bars = {.base = VIRTIO_BARS,
                              .size = (uint64_t)bus->count * VIRTIO_BAR_SIZE,
                              .widths = 1 | 2 | 4,
                              .read = bars_load,
                              .write = bars_store};

    for (unsigned i = 0; i < bus->count; i++) {
        bus->devices[i].second_bar = find_second_bar(&bus->devices[i]);
    }
    return vdev_add_first(&vm->devs, &bars) && vdev_add(&vm->devs, &ecam);
}
