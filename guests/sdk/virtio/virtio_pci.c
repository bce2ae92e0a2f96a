/* SPDX-License-Identifier: Apache-2.0 */
/* Registers of a virtio device on PCI (section 4.1), which lie in windows of its BARs. */
#include "virtio.h"

#define VENDOR 0x1af4U
#define DEVICE_BASE 0x1040U /* plus the type */

/* Fields of a vendor capability (section 4.1.4). */
#define CAP_TYPE 3U
#define CAP_BAR 4U
#define CAP_OFFSET 8U
#define CAP_LENGTH 12U
#define CAP_MULTIPLIER 16U
#define CAP_MAX 32U /* capabilities looked at */

enum cap_type {
    CAP_COMMON = 1,
    CAP_NOTIFY = 2,
    CAP_ISR = 3,
    CAP_CONFIG = 4,
};

/* The common configuration (section 4.1.4.3). */
enum common_field {
    COMMON_OFFER_SELECT = 0x00,
    COMMON_OFFER = 0x04,
    COMMON_ACCEPT_SELECT = 0x08,
    COMMON_ACCEPT = 0x0c,
    COMMON_STATUS = 0x14,
    COMMON_GENERATION = 0x15,
    COMMON_QUEUE = 0x16,
    COMMON_QUEUE_SIZE = 0x18,
    COMMON_QUEUE_ENABLE = 0x1c,
    COMMON_QUEUE_NOTIFY = 0x1e,
    COMMON_QUEUE_DESCRIPTORS = 0x20,
    COMMON_QUEUE_AVAILABLE = 0x28,
    COMMON_QUEUE_USED = 0x30,
    COMMON_BYTES = 0x38,
};

static volatile uint8_t *field8(const struct virtio_device *device, unsigned int offset)
{
    return (volatile uint8_t *)(device->common.start + offset);
}

static volatile uint16_t *field16(const struct virtio_device *device, unsigned int offset)
{
    return (volatile uint16_t *)(device->common.start + offset);
}

static volatile uint32_t *field32(const struct virtio_device *device, unsigned int offset)
{
    return (volatile uint32_t *)(device->common.start + offset);
}

static void write64(const struct virtio_device *device, unsigned int offset, uint64_t value)
{
    *field32(device, offset) = (uint32_t)value;
    *field32(device, offset + 4U) = (uint32_t)(value >> 32);
}

/* The structure that the capability at `at` describes; none if it is not in its BAR. */
static struct virtio_window find_window(struct virtio_device *device, unsigned int at)
{
    uint32_t offset = pci_read32(&device->function, at + CAP_OFFSET);
    uint32_t length = pci_read32(&device->function, at + CAP_LENGTH);
    size_t bytes = 0;
    uintptr_t bar = pci_bar(&device->function, pci_read8(&device->function, at + CAP_BAR), &bytes);

    if (bar == 0 || offset > bytes || length > bytes - offset || offset % 4U != 0) {
        return (struct virtio_window){.bytes = 0};
    }
    return (struct virtio_window){.start = bar + offset, .bytes = length};
}

/* The first structure of each type counts. */
static void note_capability(struct virtio_device *device, unsigned int at)
{
    struct virtio_window *window;

    switch (pci_read8(&device->function, at + CAP_TYPE)) {
    case CAP_COMMON:
        window = &device->common;
        break;
    case CAP_NOTIFY:
        window = &device->notify;
        break;
    case CAP_ISR:
        window = &device->isr;
        break;
    case CAP_CONFIG:
        window = &device->config;
        break;
    default:
        return;
    }
    if (window->bytes != 0) {
        return;
    }
    *window = find_window(device, at);
    if (window == &device->notify) {
        device->notify_multiplier = pci_read32(&device->function, at + CAP_MULTIPLIER);
    }
}

static bool find_windows(struct virtio_device *device)
{
    unsigned int at = 0;

    for (unsigned int i = 0; i < CAP_MAX; i++) {
        at = pci_capability(&device->function, PCI_CAPABILITY_VENDOR, at);
        if (at == 0) {
            break;
        }
        note_capability(device, at);
    }
    return device->common.bytes >= COMMON_BYTES && device->isr.bytes >= 1 &&
           device->notify.bytes >= 2;
}

static uint32_t status(const struct virtio_device *device)
{
    return *field8(device, COMMON_STATUS);
}

static void set_status(const struct virtio_device *device, uint32_t status)
{
    *field8(device, COMMON_STATUS) = (uint8_t)status;
}

static uint16_t select_queue(const struct virtio_device *device, struct virtqueue_door *door)
{
    uint64_t notify;

    *field16(device, COMMON_QUEUE) = door->number;
    notify = (uint64_t)*field16(device, COMMON_QUEUE_NOTIFY) * device->notify_multiplier;
    if (notify > device->notify.bytes - 2U || notify % 2U != 0) {
        return 0;
    }
    door->narrow = (volatile uint16_t *)(device->notify.start + notify);
    return *field16(device, COMMON_QUEUE_SIZE);
}

static void enable_queue(const struct virtio_device *device, const struct virtqueue *queue)
{
    *field16(device, COMMON_QUEUE_SIZE) = queue->size;
    write64(device, COMMON_QUEUE_DESCRIPTORS, queue->offset + (uintptr_t)queue->descriptors);
    write64(device, COMMON_QUEUE_AVAILABLE, queue->offset + (uintptr_t)&queue->available);
    write64(device, COMMON_QUEUE_USED, queue->offset + (uintptr_t)&queue->used);
    *field16(device, COMMON_QUEUE_ENABLE) = 1;
}

static uint32_t take_isr(const struct virtio_device *device)
{
    return *(const volatile uint8_t *)device->isr.start;
}

static uint32_t generation(const struct virtio_device *device)
{
    return *field8(device, COMMON_GENERATION);
}

static const struct virtio_transport transport = {
    .features = {COMMON_OFFER_SELECT, COMMON_OFFER, COMMON_ACCEPT_SELECT, COMMON_ACCEPT},
    .status = status,
    .set_status = set_status,
    .select_queue = select_queue,
    .enable_queue = enable_queue,
    .take_isr = take_isr,
    .generation = generation,
};

int virtio_open(struct virtio_device *device, struct pci_bus *bus, enum virtio_type type,
                unsigned int number, uint64_t wanted)
{
    *device = (struct virtio_device){.transport = &transport};
    if (!pci_find(bus, VENDOR, (uint16_t)(DEVICE_BASE + type), number, &device->function) ||
        !find_windows(device)) {
        return VIRTIO_NO_DEVICE;
    }
    device->irq = device->function.irq;
    pci_enable(&device->function);
    return virtio_negotiate(device, wanted);
}
