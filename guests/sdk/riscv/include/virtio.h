/* SPDX-License-Identifier: Apache-2.0 */
/*
 * virtio devices on PCI (virtio 1.2, section 4.1), without the legacy interface: capabilities, status, features, queues. The drivers
 * are virtio_net.h, virtio_blk.h, virtio_rng.h and virtio_vsock.h.
 */
#ifndef GUEST_VIRTIO_H
#define GUEST_VIRTIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pci.h"
#include "virtqueue.h"

/** Device types (section 5). */
enum virtio_type {
    VIRTIO_NET = 1,
    VIRTIO_BLK = 2,
    VIRTIO_RNG = 4,
    VIRTIO_VSOCK = 19,
};

#define VIRTIO_F_EVENT_IDX (UINT64_C(1) << 29)
#define VIRTIO_F_VERSION_1 (UINT64_C(1) << 32)

#define VIRTIO_ISR_QUEUE 1U
#define VIRTIO_ISR_CONFIG 2U

/** A structure of the device in one of its BARs. */
struct virtio_window {
    uintptr_t start;
    size_t bytes; /* 0: the device does not have it */
};

struct virtio_device {
    struct pci_function function;
    struct virtio_window common, notify, isr, config;
    uint32_t notify_multiplier;
    uint64_t features;  /* negotiated */
    unsigned long hart; /* of virtio_sleep_on() */
    bool sleeps;
};

/**
 * Opens the `number`th device (from 0) of a type: resets it and agrees on VIRTIO_F_VERSION_1, VIRTIO_F_EVENT_IDX and those of
 * `wanted` that it offers. VIRTIO_OK, VIRTIO_NO_DEVICE, VIRTIO_BROKEN.
 */
int virtio_open(struct virtio_device *device, struct pci_bus *bus, enum virtio_type type, unsigned int number,
                uint64_t wanted);

/** Gives a queue to the device, with as many entries as it has, at most `most`. VIRTIO_OK, VIRTIO_NO_DEVICE. Before virtio_start(). */
int virtio_add_queue(struct virtio_device *device, uint16_t number, struct virtqueue *queue, uint16_t most);

/** The device begins to work. */
void virtio_start(struct virtio_device *device);

/** Resets the device: afterwards it does not access memory. */
void virtio_reset(struct virtio_device *device);

/** The device wants to be reset (DEVICE_NEEDS_RESET). */
bool virtio_failed(const struct virtio_device *device);

/** Reads the interrupt status, which lowers the interrupt: VIRTIO_ISR_*. */
uint32_t virtio_isr(const struct virtio_device *device);

/** Fields of the device's own configuration, 0 beyond its end. */
uint8_t virtio_config8(const struct virtio_device *device, unsigned int offset);
uint16_t virtio_config16(const struct virtio_device *device, unsigned int offset);
uint32_t virtio_config32(const struct virtio_device *device, unsigned int offset);
uint64_t virtio_config64(const struct virtio_device *device, unsigned int offset);

/** From now on virtio_wait() sleeps until the device interrupts, on hart `hart`; initially it polls. */
void virtio_sleep_on(struct virtio_device *device, unsigned long hart);

/** Waits until virtqueue_used(queue). VIRTIO_OK; VIRTIO_BROKEN after `ms` without one. */
int virtio_wait(struct virtio_device *device, struct virtqueue *queue, unsigned int ms);

#endif
