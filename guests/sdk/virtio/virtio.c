/* SPDX-License-Identifier: Apache-2.0 */
/* What all virtio devices have in common, on PCI and on MMIO: status, features, queues,
 * configuration (virtio.h). The caller owns struct virtio_device. */
#include "virtio.h"

#include "machine.h"
#include "timer.h"

#define RESET_MS 1000U

/* The device's status (section 2.1). */
#define STATUS_ACKNOWLEDGE 1U
#define STATUS_DRIVER 2U
#define STATUS_DRIVER_OK 4U
#define STATUS_FEATURES_OK 8U
#define STATUS_NEEDS_RESET 64U

static void add_status(const struct virtio_device *device, uint32_t bit)
{
    device->transport->set_status(device, device->transport->status(device) | bit);
}

void virtio_reset(struct virtio_device *device)
{
    uint64_t end = machine_time() + (uint64_t)RESET_MS * (PLATFORM_TIMEBASE_HZ / 1000U);

    device->transport->set_status(device, 0);
    while (device->transport->status(device) != 0 && machine_time() < end) {
    }
}

bool virtio_failed(const struct virtio_device *device)
{
    return (device->transport->status(device) & STATUS_NEEDS_RESET) != 0;
}

static volatile uint32_t *common(const struct virtio_device *device, uint16_t offset)
{
    return (volatile uint32_t *)(device->common.start + offset);
}

static uint64_t offered(const struct virtio_device *device)
{
    const struct virtio_transport *transport = device->transport;
    uint64_t low;

    *common(device, transport->features.offer_select) = 0;
    low = *common(device, transport->features.offer);
    *common(device, transport->features.offer_select) = 1;
    return (uint64_t)*common(device, transport->features.offer) << 32 | low;
}

static void accept(const struct virtio_device *device, uint64_t features)
{
    const struct virtio_transport *transport = device->transport;

    *common(device, transport->features.accept_select) = 0;
    *common(device, transport->features.accept) = (uint32_t)features;
    *common(device, transport->features.accept_select) = 1;
    *common(device, transport->features.accept) = (uint32_t)(features >> 32);
}

int virtio_negotiate(struct virtio_device *device, uint64_t wanted)
{
    const struct virtio_transport *transport = device->transport;

    virtio_reset(device);
    if (transport->status(device) != 0) {
        return VIRTIO_BROKEN;
    }
    add_status(device, STATUS_ACKNOWLEDGE);
    add_status(device, STATUS_DRIVER);
    device->features = offered(device) & (wanted | VIRTIO_F_VERSION_1 | VIRTIO_F_EVENT_IDX |
                                          VIRTIO_F_ACCESS_PLATFORM);
    if ((device->features & VIRTIO_F_VERSION_1) == 0) {
        return VIRTIO_NO_DEVICE;
    }
    accept(device, device->features);
    add_status(device, STATUS_FEATURES_OK);
    return (transport->status(device) & STATUS_FEATURES_OK) != 0 ? VIRTIO_OK : VIRTIO_BROKEN;
}

static uint16_t power_of_two_up_to(uint16_t most)
{
    uint16_t size = 1;

    while (size <= most / 2U) {
        size = (uint16_t)(2U * size);
    }
    return size;
}

int virtio_add_queue(struct virtio_device *device, uint16_t number, struct virtqueue *queue,
                     uint16_t most)
{
    struct virtqueue_door door = {.number = number};
    uint16_t size = device->transport->select_queue(device, &door);

    if (size == 0 || most == 0 || most > VIRTQUEUE_ENTRIES) {
        return VIRTIO_NO_DEVICE;
    }
    virtqueue_init(queue, power_of_two_up_to(size < most ? size : most),
                   (device->features & VIRTIO_F_EVENT_IDX) != 0);
    queue->door = door;
    queue->offset = (device->features & VIRTIO_F_ACCESS_PLATFORM) != 0 ? device->dma_offset : 0;
    device->transport->enable_queue(device, queue);
    return VIRTIO_OK;
}

void virtio_start(struct virtio_device *device)
{
    add_status(device, STATUS_DRIVER_OK);
}

uint32_t virtio_isr(const struct virtio_device *device)
{
    return device->transport->take_isr(device);
}

static bool has_config(const struct virtio_device *device, unsigned int offset, unsigned int bytes)
{
    return offset <= device->config.bytes && bytes <= device->config.bytes - offset;
}

uint8_t virtio_config8(const struct virtio_device *device, unsigned int offset)
{
    return has_config(device, offset, 1)
               ? *(const volatile uint8_t *)(device->config.start + offset)
               : 0;
}

uint16_t virtio_config16(const struct virtio_device *device, unsigned int offset)
{
    return has_config(device, offset, 2)
               ? *(const volatile uint16_t *)(device->config.start + offset)
               : 0;
}

uint32_t virtio_config32(const struct virtio_device *device, unsigned int offset)
{
    return has_config(device, offset, 4)
               ? *(const volatile uint32_t *)(device->config.start + offset)
               : 0;
}

/* Both halves are of the same state if the generation has not changed (section 2.5.1). */
uint64_t virtio_config64(const struct virtio_device *device, unsigned int offset)
{
    uint64_t value;
    uint32_t before;

    for (unsigned int attempt = 0; attempt < 8U; attempt++) {
        before = device->transport->generation(device);
        value =
            (uint64_t)virtio_config32(device, offset + 4U) << 32 | virtio_config32(device, offset);
        if (before == device->transport->generation(device)) {
            return value;
        }
    }
    return 0;
}

void virtio_sleep_on(struct virtio_device *device, unsigned long hart)
{
    device->hart = hart;
    device->sleeps = device->irq != 0;
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
            plic_wait(device->irq, device->hart, lower, device);
        }
    }
    if (device->sleeps) {
        virtqueue_interrupt(queue, false);
        machine_wake_by_timer(false);
    }
    return virtqueue_used(queue) ? VIRTIO_OK : VIRTIO_BROKEN;
}
