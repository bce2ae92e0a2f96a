/* SPDX-License-Identifier: Apache-2.0 */
#include "virtio.h"

#include "machine.h"
#include "timer.h"

#define VENDOR 0x1af4U
#define DEVICE_BASE 0x1040U /* plus the type */
#define RESET_MS 1000U

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

/* The device's status (section 2.1). */
#define STATUS_ACKNOWLEDGE 1U
#define STATUS_DRIVER 2U
#define STATUS_DRIVER_OK 4U
#define STATUS_FEATURES_OK 8U
#define STATUS_NEEDS_RESET 64U

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
    return device->common.bytes >= COMMON_BYTES && device->isr.bytes >= 1 && device->notify.bytes >= 2;
}

static uint64_t offered(const struct virtio_device *device)
{
    uint64_t low;

    *field32(device, COMMON_OFFER_SELECT) = 0;
    low = *field32(device, COMMON_OFFER);
    *field32(device, COMMON_OFFER_SELECT) = 1;
    return (uint64_t)*field32(device, COMMON_OFFER) << 32 | low;
}

static void accept(const struct virtio_device *device, uint64_t features)
{
    *field32(device, COMMON_ACCEPT_SELECT) = 0;
    *field32(device, COMMON_ACCEPT) = (uint32_t)features;
    *field32(device, COMMON_ACCEPT_SELECT) = 1;
    *field32(device, COMMON_ACCEPT) = (uint32_t)(features >> 32);
}

static void add_status(const struct virtio_device *device, unsigned int bit)
{
    *field8(device, COMMON_STATUS) = (uint8_t)(*field8(device, COMMON_STATUS) | bit);
}

void virtio_reset(struct virtio_device *device)
{
    uint64_t end = machine_time() + (uint64_t)RESET_MS * (PLATFORM_TIMEBASE_HZ / 1000U);

    *field8(device, COMMON_STATUS) = 0;
    while (*field8(device, COMMON_STATUS) != 0 && machine_time() < end) {
    }
}

bool virtio_failed(const struct virtio_device *device)
{
    return (*field8(device, COMMON_STATUS) & STATUS_NEEDS_RESET) != 0;
}

/* The steps of section 3.1.1 up to the features. */
static int negotiate(struct virtio_device *device, uint64_t wanted)
{
    virtio_reset(device);
    add_status(device, STATUS_ACKNOWLEDGE);
    add_status(device, STATUS_DRIVER);
    device->features = offered(device) & (wanted | VIRTIO_F_VERSION_1 | VIRTIO_F_EVENT_IDX);
    if ((device->features & VIRTIO_F_VERSION_1) == 0) {
        return VIRTIO_NO_DEVICE;
    }
    accept(device, device->features);
    add_status(device, STATUS_FEATURES_OK);
    return (*field8(device, COMMON_STATUS) & STATUS_FEATURES_OK) != 0 ? VIRTIO_OK : VIRTIO_BROKEN;
}

int virtio_open(struct virtio_device *device, struct pci_bus *bus, enum virtio_type type, unsigned int number,
                uint64_t wanted)
{
    *device = (struct virtio_device){.sleeps = false};
    if (!pci_find(bus, VENDOR, (uint16_t)(DEVICE_BASE + type), number, &device->function) || !find_windows(device)) {
        return VIRTIO_NO_DEVICE;
    }
    pci_enable(&device->function);
    return negotiate(device, wanted);
}

static uint16_t power_of_two_up_to(uint16_t most)
{
    uint16_t size = 1;

    while (size <= most / 2U) {
        size = (uint16_t)(2U * size);
    }
    return size;
}

int virtio_add_queue(struct virtio_device *device, uint16_t number, struct virtqueue *queue, uint16_t most)
{
    uint64_t notify;
    uint16_t size;

    *field16(device, COMMON_QUEUE) = number;
    size = *field16(device, COMMON_QUEUE_SIZE);
    notify = (uint64_t)*field16(device, COMMON_QUEUE_NOTIFY) * device->notify_multiplier;
    if (size == 0 || most == 0 || most > VIRTQUEUE_ENTRIES || notify > device->notify.bytes - 2U || notify % 2U != 0) {
        return VIRTIO_NO_DEVICE;
    }
    size = power_of_two_up_to(size < most ? size : most);
    virtqueue_init(queue, size, (device->features & VIRTIO_F_EVENT_IDX) != 0);
    queue->number = number;
    queue->notify = (volatile uint16_t *)(device->notify.start + notify);
    *field16(device, COMMON_QUEUE_SIZE) = size;
    write64(device, COMMON_QUEUE_DESCRIPTORS, (uintptr_t)queue->descriptors);
    write64(device, COMMON_QUEUE_AVAILABLE, (uintptr_t)&queue->available);
    write64(device, COMMON_QUEUE_USED, (uintptr_t)&queue->used);
    *field16(device, COMMON_QUEUE_ENABLE) = 1;
    return VIRTIO_OK;
}

void virtio_start(struct virtio_device *device)
{
    add_status(device, STATUS_DRIVER_OK);
}

uint32_t virtio_isr(const struct virtio_device *device)
{
    return *(const volatile uint8_t *)device->isr.start;
}

static bool has_config(const struct virtio_device *device, unsigned int offset, unsigned int bytes)
{
    return offset <= device->config.bytes && bytes <= device->config.bytes - offset;
}

uint8_t virtio_config8(const struct virtio_device *device, unsigned int offset)
{
    return has_config(device, offset, 1) ? *(const volatile uint8_t *)(device->config.start + offset) : 0;
}

uint16_t virtio_config16(const struct virtio_device *device, unsigned int offset)
{
    return has_config(device, offset, 2) ? *(const volatile uint16_t *)(device->config.start + offset) : 0;
}

uint32_t virtio_config32(const struct virtio_device *device, unsigned int offset)
{
    return has_config(device, offset, 4) ? *(const volatile uint32_t *)(device->config.start + offset) : 0;
}

/* Both halves are of the same state if the generation has not changed (section 2.5.1). */
uint64_t virtio_config64(const struct virtio_device *device, unsigned int offset)
{
    uint64_t value;
    uint8_t before;

    for (unsigned int attempt = 0; attempt < 8U; attempt++) {
        before = *field8(device, COMMON_GENERATION);
        value = (uint64_t)virtio_config32(device, offset + 4U) << 32 | virtio_config32(device, offset);
        if (before == *field8(device, COMMON_GENERATION)) {
            return value;
        }
    }
    return 0;
}

void virtio_sleep_on(struct virtio_device *device, unsigned long hart)
{
    device->hart = hart;
    device->sleeps = device->function.irq != 0;
}

static void lower(void *device)
{
    (void)virtio_isr(device);
}

int virtio_wait(struct virtio_device *device, struct virtqueue *queue, unsigned int ms)
{
    uint64_t end = machine_time() + (uint64_t)ms * (PLATFORM_TIMEBASE_HZ / 1000U);

    if (device->sleeps) {
        timer_set(end);
        machine_wake_by_timer(true);
    }
    while (!virtqueue_used(queue) && machine_time() < end) {
        if (!device->sleeps) {
            continue;
        }
        virtqueue_interrupt(queue, true);
        if (!virtqueue_used(queue)) {
            plic_wait(device->function.irq, device->hart, lower, device);
        }
    }
    if (device->sleeps) {
        virtqueue_interrupt(queue, false);
        machine_wake_by_timer(false);
    }
    return virtqueue_used(queue) ? VIRTIO_OK : VIRTIO_BROKEN;
}
