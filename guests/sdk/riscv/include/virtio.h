/* SPDX-License-Identifier: Apache-2.0 */
/*
 * virtio devices (virtio 1.2) on PCI and on MMIO, without the legacy interfaces: status, features,
 * queues. The drivers are virtio_net.h, virtio_blk.h, virtio_console.h, virtio_rng.h,
 * virtio_vsock.h and disk_server.h.
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
    VIRTIO_CONSOLE = 3,
    VIRTIO_RNG = 4,
    VIRTIO_VSOCK = 19,
    VIRTIO_CRYPTO = 20,
    VIRTIO_DISK_SERVER = 63, /* DISK_SERVER_TYPE: Tessera's own */
};

#define VIRTIO_F_EVENT_IDX (UINT64_C(1) << 29)
#define VIRTIO_F_VERSION_1 (UINT64_C(1) << 32)
/* the device's addresses are those of dma_offset */
#define VIRTIO_F_ACCESS_PLATFORM (UINT64_C(1) << 33)

#define VIRTIO_ISR_QUEUE 1U
#define VIRTIO_ISR_CONFIG 2U

/** A structure of the device in one of its BARs; registers or configuration on MMIO. */
struct virtio_window {
    uintptr_t start;
    size_t bytes; /* 0: the device does not have it */
};

struct virtio_device;

/** How the registers of a device are accessed. */
struct virtio_transport {
    /* Offsets in device->common of the registers that select a half of the features and have it:
     * offered, accepted. */
    struct {
        uint16_t offer_select, offer, accept_select, accept;
    } features;
    uint32_t (*status)(const struct virtio_device *device);
    void (*set_status)(const struct virtio_device *device, uint32_t status);
    /* Selects the queue door->number and finds its register for notifications: its largest size, 0
     * if there is no such queue. */
    uint16_t (*select_queue)(const struct virtio_device *device, struct virtqueue_door *door);
    void (*enable_queue)(const struct virtio_device *device,
                         const struct virtqueue *queue); /* the one that is selected */
    /* interrupt status, which it clears */
    uint32_t (*take_isr)(const struct virtio_device *device);
    uint32_t (*generation)(const struct virtio_device *device);
};

struct virtio_device {
    const struct virtio_transport *transport;
    struct pci_function function;                     /* PCI */
    struct virtio_window common, notify, isr, config; /* MMIO: common and config */
    uint32_t notify_multiplier;                       /* PCI */
    uint64_t dma_offset; /* from an address of the guest to the device's, with ACCESS_PLATFORM */
    uint64_t features;   /* negotiated */
    uint32_t irq;        /* source of the interrupt controller, 0: none */
    unsigned long hart;  /* of virtio_sleep_on() */
    bool sleeps;
};

/**
 * Opens the `number`th device (from 0) of a type on PCI: resets it and agrees on
 * VIRTIO_F_VERSION_1, VIRTIO_F_EVENT_IDX, VIRTIO_F_ACCESS_PLATFORM and those of `wanted`, if it
 * offers them. VIRTIO_OK, VIRTIO_NO_DEVICE, VIRTIO_BROKEN.
 */
int virtio_open(struct virtio_device *device, struct pci_bus *bus, enum virtio_type type,
                unsigned int number, uint64_t wanted);

/** Opens the first device of this type on MMIO that the device tree lists: as virtio_open(). */
int virtio_open_mmio(struct virtio_device *device, const void *fdt, enum virtio_type type,
                     uint64_t wanted);

/** The steps of section 3.1.1 up to the features, for virtio_open*(). VIRTIO_OK, VIRTIO_NO_DEVICE,
 * VIRTIO_BROKEN. */
int virtio_negotiate(struct virtio_device *device, uint64_t wanted);

/** Gives a queue to the device, with as many entries as it has, at most `most`. VIRTIO_OK,
 * VIRTIO_NO_DEVICE. Before virtio_start(). */
int virtio_add_queue(struct virtio_device *device, uint16_t number, struct virtqueue *queue,
                     uint16_t most);

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

/** From now on virtio_wait() sleeps until the device interrupts, on hart `hart`; initially it
 * polls. */
void virtio_sleep_on(struct virtio_device *device, unsigned long hart);

/** Waits until virtqueue_used(queue). VIRTIO_OK; VIRTIO_BROKEN after `ms` without one. */
int virtio_wait(struct virtio_device *device, struct virtqueue *queue, unsigned int ms);

#endif
