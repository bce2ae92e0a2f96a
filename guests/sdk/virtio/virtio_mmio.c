/* SPDX-License-Identifier: Apache-2.0 */
/* Registers of a virtio device on MMIO, version 2 (section 4.2.2): how QEMU's devices that a VM
 * owns are connected. */
#include "fdt.h"
#include "virtio.h"

#define COMPATIBLE "virtio,mmio"
#define MAGIC 0x74726976U
#define VERSION 2U

enum mmio_register {
    REG_MAGIC = 0x00,
    REG_VERSION = 0x04,
    REG_TYPE = 0x08,
    REG_OFFER = 0x10,
    REG_OFFER_SELECT = 0x14,
    REG_ACCEPT = 0x20,
    REG_ACCEPT_SELECT = 0x24,
    REG_QUEUE = 0x30,
    REG_QUEUE_MAX = 0x34,
    REG_QUEUE_SIZE = 0x38,
    REG_QUEUE_READY = 0x44,
    REG_QUEUE_NOTIFY = 0x50,
    REG_ISR = 0x60,
    REG_ISR_CLEAR = 0x64,
    REG_STATUS = 0x70,
    REG_DESCRIPTORS = 0x80,
    REG_AVAILABLE = 0x90,
    REG_USED = 0xa0,
    REG_GENERATION = 0xfc,
    REG_CONFIG = 0x100,
};

/* Cells of the device tree's properties: addresses and sizes have two. */
#define REG_CELLS 4U
#define DMA_RANGE_CELLS 6U

static volatile uint32_t *reg(const struct virtio_device *device, enum mmio_register offset)
{
    return (volatile uint32_t *)(device->common.start + offset);
}

static void write64(const struct virtio_device *device, enum mmio_register offset, uint64_t value)
{
    volatile uint32_t *low = reg(device, offset);

    low[0] = (uint32_t)value;
    low[1] = (uint32_t)(value >> 32);
}

static uint32_t status(const struct virtio_device *device)
{
    return *reg(device, REG_STATUS);
}

static void set_status(const struct virtio_device *device, uint32_t status)
{
    *reg(device, REG_STATUS) = status;
}

static uint16_t select_queue(const struct virtio_device *device, struct virtqueue_door *door)
{
    uint32_t most;

    *reg(device, REG_QUEUE) = door->number;
    door->wide = reg(device, REG_QUEUE_NOTIFY);
    most = *reg(device, REG_QUEUE_MAX);
    return most < VIRTQUEUE_ENTRIES ? (uint16_t)most : VIRTQUEUE_ENTRIES;
}

static void enable_queue(const struct virtio_device *device, const struct virtqueue *queue)
{
    *reg(device, REG_QUEUE_SIZE) = queue->size;
    write64(device, REG_DESCRIPTORS, queue->offset + (uintptr_t)queue->descriptors);
    write64(device, REG_AVAILABLE, queue->offset + (uintptr_t)&queue->available);
    write64(device, REG_USED, queue->offset + (uintptr_t)&queue->used);
    *reg(device, REG_QUEUE_READY) = 1;
}

static uint32_t take_isr(const struct virtio_device *device)
{
    uint32_t isr = *reg(device, REG_ISR);

    *reg(device, REG_ISR_CLEAR) = isr;
    return isr;
}

static uint32_t generation(const struct virtio_device *device)
{
    return *reg(device, REG_GENERATION);
}

static const struct virtio_transport transport = {
    .features = {REG_OFFER_SELECT, REG_OFFER, REG_ACCEPT_SELECT, REG_ACCEPT},
    .status = status,
    .set_status = set_status,
    .select_queue = select_queue,
    .enable_queue = enable_queue,
    .take_isr = take_isr,
    .generation = generation,
};

/* From an address of the guest to the device's: the bus has a range of memory for DMA, or none if
 * they are equal. */
static uint64_t dma_offset(const void *fdt)
{
    uint32_t length;
    const void *range = fdt_property(fdt, "soc", "dma-ranges", &length);

    if (range == NULL || length / 4U < DMA_RANGE_CELLS) {
        return 0;
    }
    return fdt_cell64(range, length, 0) - fdt_cell64(range, length, 2);
}

/* Finds registers and interrupt of the `number`th device of the device tree. False: there are not
 * so many. */
static bool find(struct virtio_device *device, const void *fdt, unsigned int number)
{
    uint32_t length;
    const void *value = fdt_device_at(fdt, COMPATIBLE, number, "reg", &length);
    uint64_t bytes;

    if (value == NULL || length / 4U < REG_CELLS) {
        return false;
    }
    device->common.start = (uintptr_t)fdt_cell64(value, length, 0);
    bytes = fdt_cell64(value, length, 2);
    value = fdt_device_at(fdt, COMPATIBLE, number, "interrupts", &length);
    device->irq = value != NULL ? fdt_cell(value, length, 0) : 0;
    device->common.bytes = REG_CONFIG;
    device->config = (struct virtio_window){.start = device->common.start + REG_CONFIG,
                                            .bytes = bytes > REG_CONFIG ? bytes - REG_CONFIG : 0};
    return true;
}

static bool is(const struct virtio_device *device, enum virtio_type type)
{
    return *reg(device, REG_MAGIC) == MAGIC && *reg(device, REG_VERSION) == VERSION &&
           *reg(device, REG_TYPE) == type;
}

int virtio_open_mmio(struct virtio_device *device, const void *fdt, enum virtio_type type,
                     uint64_t wanted)
{
    *device = (struct virtio_device){.transport = &transport, .dma_offset = dma_offset(fdt)};
    for (unsigned int number = 0; find(device, fdt, number); number++) {
        if (is(device, type)) {
            return virtio_negotiate(device, wanted);
        }
    }
    return VIRTIO_NO_DEVICE;
}
