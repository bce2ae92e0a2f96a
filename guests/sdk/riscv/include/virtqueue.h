/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Split virtqueue (virtio 1.2, section 2.7), with VIRTIO_F_EVENT_IDX and without indirect
 * descriptors. The functions do not lock.
 *
 * The device is not trusted: what it writes into the used ring is checked, and the free list is not
 * in its reach of the protocol. A queue whose device has broken the rules is `broken`: it takes and
 * gives nothing any more.
 */
#ifndef GUEST_VIRTQUEUE_H
#define GUEST_VIRTQUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VIRTQUEUE_ENTRIES 256U /* at most; a power of two */
#define VIRTQUEUE_PARTS 4U     /* of a buffer, at most */

/** Results of the drivers' functions. */
enum virtio_result {
    VIRTIO_OK = 0,
    VIRTIO_NO_DEVICE = -1, /* there is none, or not one that the driver can use */
    VIRTIO_FULL = -2,      /* the queue has no free descriptors */
    VIRTIO_INVALID = -3,   /* an argument is out of range */
    VIRTIO_BROKEN = -4,    /* the device has broken the protocol, or has not answered */
    VIRTIO_FAILED = -5,    /* the device has refused the request */
};

struct virtqueue_descriptor {
    uint64_t address;
    uint32_t bytes;
    uint16_t flags, next;
};

struct virtqueue_available {
    uint16_t flags, index;
    uint16_t ring[VIRTQUEUE_ENTRIES + 1U]; /* used_event follows the ring */
};

struct virtqueue_used_entry {
    uint32_t id, bytes;
};

struct virtqueue_used {
    uint16_t flags, index;
    struct virtqueue_used_entry ring[VIRTQUEUE_ENTRIES + 1U]; /* avail_event follows the ring */
};

/** A part of a buffer: memory that the device reads, or, if `writable`, writes. Parts to read come
 * first. */
struct virtqueue_part {
    void *data;
    uint32_t bytes;
    bool writable;
};

/** The register by which a device is notified of new buffers: one of the two pointers, to which the
 * number is written. */
struct virtqueue_door {
    volatile uint16_t *narrow;
    volatile uint32_t *wide;
    uint16_t number; /* of the queue in the device */
};

/** The device reads and writes the rings: a queue must stay where it is once the device has it. */
struct virtqueue {
    _Alignas(16) struct virtqueue_descriptor descriptors[VIRTQUEUE_ENTRIES];
    volatile struct virtqueue_available available;
    _Alignas(8) volatile struct virtqueue_used used;
    /* The driver's own: */
    uint16_t next[VIRTQUEUE_ENTRIES]; /* of the free list, or of a chain */
    /* of the chain that begins here and that the device has, otherwise 0 */
    uint8_t parts[VIRTQUEUE_ENTRIES];
    uint32_t capacity[VIRTQUEUE_ENTRIES]; /* bytes of that chain that the device may write */
    uint16_t size;                        /* entries in use, a power of two */
    uint16_t free, unused;                /* head of the free list, and its length */
    /* buffers given to the device, and those of them when it was last notified */
    uint16_t added, announced;
    uint16_t taken; /* buffers taken back */
    bool event_idx, broken;
    uint64_t offset; /* from an address of the guest to the device's */
    struct virtqueue_door door;
};

/** Empties the queue; `size` is a power of two, at most VIRTQUEUE_ENTRIES. */
void virtqueue_init(struct virtqueue *queue, uint16_t size, bool event_idx);

/**
 * Gives a buffer of 1 to VIRTQUEUE_PARTS parts to the device, which learns of it by
 * virtqueue_notify(). Returns its number, that of its first descriptor, below the queue's size;
 * VIRTIO_FULL, VIRTIO_INVALID, VIRTIO_BROKEN.
 */
int virtqueue_add(struct virtqueue *queue, const struct virtqueue_part *parts, unsigned int count);

/** Notifies the device of the buffers added since the last call, if it wants that. */
void virtqueue_notify(struct virtqueue *queue);

/**
 * Takes back a buffer that the device has used: its number, or VIRTIO_FULL if there is none;
 * VIRTIO_BROKEN. *bytes is what the device has written, at most the size of the buffer's writable
 * parts.
 */
int virtqueue_take(struct virtqueue *queue, uint32_t *bytes);

/** True: virtqueue_take() returns a buffer, or that the queue is broken. */
bool virtqueue_used(const struct virtqueue *queue);

/**
 * Whether the device interrupts when it uses a buffer. True: it interrupts with the next buffer
 * that it uses; look for used buffers afterwards, and call it again after each interrupt.
 */
void virtqueue_interrupt(struct virtqueue *queue, bool on);

#endif
