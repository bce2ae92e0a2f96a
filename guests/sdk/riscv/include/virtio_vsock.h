/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Driver of a virtio socket device (virtio 1.2, section 5.10): one stream at a time, which the
 * guest opens or accepts. Polled; the caller calls virtio_vsock_receive() again and again, which
 * also handles the packets that open and end the stream.
 */
#ifndef GUEST_VIRTIO_VSOCK_H
#define GUEST_VIRTIO_VSOCK_H

#include "virtio.h"

#define VIRTIO_VSOCK_PACKETS 16U /* in each direction */
#define VIRTIO_VSOCK_DATA 4052U  /* bytes of a packet */

/** The header of a packet. */
struct virtio_vsock_header {
    uint32_t source[2], target[2]; /* context ids, the lower half first */
    uint32_t source_port, target_port;
    uint32_t bytes;
    uint16_t type, op;
    uint32_t flags;
    /* of the sender's receive buffer, and what its program has taken from it */
    uint32_t space, forwarded;
};

struct virtio_vsock_packet {
    struct virtio_vsock_header header;
    uint8_t data[VIRTIO_VSOCK_DATA];
};

enum virtio_vsock_state {
    VIRTIO_VSOCK_CLOSED,
    VIRTIO_VSOCK_LISTENING,
    VIRTIO_VSOCK_CONNECTING,
    VIRTIO_VSOCK_OPEN,
};

/** What the stream's two ends know of each other. */
struct virtio_vsock_stream {
    enum virtio_vsock_state state;
    uint64_t peer; /* context id */
    uint32_t port, peer_port;
    bool peer_sends, peer_receives;
    uint32_t sent; /* bytes, modulo 2^32 */
    /* bytes taken by the guest, and those of them that the peer knows of */
    uint32_t forwarded, reported;
    uint32_t peer_space, peer_forwarded;
};

struct virtio_vsock {
    struct virtio_device device;
    struct virtqueue receive, send, event;
    struct virtio_vsock_packet receiving[VIRTIO_VSOCK_PACKETS], sending[VIRTIO_VSOCK_PACKETS];
    uint64_t cid; /* of the VM */
    uint32_t
        /* of the last stream to a peer; each has another one: packets of the one before may still
         * arrive */
        own_port;
    struct virtio_vsock_stream stream;
    int held; /* the packet that virtio_vsock_receive() returned, or negative */
};

/** Opens the `number`th device. VIRTIO_OK, VIRTIO_NO_DEVICE, VIRTIO_BROKEN. */
int virtio_vsock_open(struct virtio_vsock *vsock, struct pci_bus *bus, unsigned int number);

/** Accepts the next stream to a port; stream.state becomes VIRTIO_VSOCK_OPEN. Ends a stream that
 * there is. */
void virtio_vsock_listen(struct virtio_vsock *vsock, uint32_t port);

/** Begins a stream to a VM's port: stream.state becomes VIRTIO_VSOCK_OPEN, or _CLOSED if the peer
 * refuses it. */
void virtio_vsock_connect(struct virtio_vsock *vsock, uint64_t cid, uint32_t port);

/** Sends as much of the data as there is space for: bytes sent, 0 if the stream is not open. */
size_t virtio_vsock_send(struct virtio_vsock *vsock, const void *data, size_t bytes);

/**
 * The next data of the stream, valid until the next call, and their length. NULL: none yet, or
 * never again if stream.peer_sends is false.
 */
const uint8_t *virtio_vsock_receive(struct virtio_vsock *vsock, size_t *bytes);

/** The guest sends no more; the peer ends the stream when it does not send either. */
void virtio_vsock_finish(struct virtio_vsock *vsock);

/** Ends the stream in both directions. */
void virtio_vsock_close(struct virtio_vsock *vsock);

#endif
