/* SPDX-License-Identifier: Apache-2.0 */
/* Driver of a virtio network device: a frame is in one buffer, without offloads. Polled, or by
 * interrupts. */
#ifndef GUEST_VIRTIO_NET_H
#define GUEST_VIRTIO_NET_H

#include "virtio.h"

#define VIRTIO_NET_ADDRESS 6U /* bytes of a MAC address */
#define VIRTIO_NET_SHORTEST 14U
#define VIRTIO_NET_FRAME 1514U /* bytes of the longest frame, without FCS */
#define VIRTIO_NET_BUFFERS 64U /* frames in each direction */
#define VIRTIO_NET_HEADER 12U

/** A frame behind the header of section 5.1.6. */
struct virtio_net_buffer {
    uint8_t header[VIRTIO_NET_HEADER];
    uint8_t frame[VIRTIO_NET_FRAME];
    uint8_t padding[2];
};

struct virtio_net {
    struct virtio_device device;
    struct virtqueue receive, send;
    struct virtio_net_buffer receiving[VIRTIO_NET_BUFFERS],
        sending[VIRTIO_NET_BUFFERS]; /* by the number in the queue */
    uint8_t mac[VIRTIO_NET_ADDRESS]; /* the device's address */
    /* the buffer that virtio_net_receive() returned, or negative */
    int held;
};

/** Opens the `number`th network device on PCI, or the one of virtio_open_mmio(). VIRTIO_OK,
 * VIRTIO_NO_DEVICE, VIRTIO_BROKEN. */
int virtio_net_open(struct virtio_net *net, struct pci_bus *bus, unsigned int number);
int virtio_net_open_mmio(struct virtio_net *net, const void *fdt);

/**
 * Memory of VIRTIO_NET_FRAME bytes for the next frame to send, NULL while none is free.
 * virtio_net_submit() sends it; until then each call returns the same memory.
 */
uint8_t *virtio_net_buffer(struct virtio_net *net);

/** Sends the frame in virtio_net_buffer(), of VIRTIO_NET_SHORTEST to VIRTIO_NET_FRAME bytes.
 * VIRTIO_OK, _INVALID, _FULL, _BROKEN. */
int virtio_net_submit(struct virtio_net *net, size_t bytes);

/** Sends a copy of a frame: as virtio_net_submit(). */
int virtio_net_send(struct virtio_net *net, const void *frame, size_t bytes);

/** Frames that the device has not sent yet. */
unsigned int virtio_net_waiting(struct virtio_net *net);

/** The next frame that has arrived, valid until the next call, and its length; NULL: none. */
uint8_t *virtio_net_receive(struct virtio_net *net, size_t *bytes);

#endif
