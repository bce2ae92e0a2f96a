/* SPDX-License-Identifier: Apache-2.0 */
/* Driver of port 0 of a virtio console: a stream of bytes in each direction. Polled, or by
 * interrupts. */
#ifndef GUEST_VIRTIO_CONSOLE_H
#define GUEST_VIRTIO_CONSOLE_H

#include "virtio.h"

#define VIRTIO_CONSOLE_BUFFERS 16U /* in each direction */
#define VIRTIO_CONSOLE_BYTES 256U  /* of a buffer */

struct virtio_console {
    struct virtio_device device;
    struct virtqueue receive, send;
    uint8_t receiving[VIRTIO_CONSOLE_BUFFERS][VIRTIO_CONSOLE_BYTES],
        sending[VIRTIO_CONSOLE_BUFFERS][VIRTIO_CONSOLE_BYTES];
    /* the buffer of receiving[] that virtio_console_read() takes bytes from, or negative */
    int held;
    uint32_t got, taken; /* bytes in it, and bytes of them that were read */
};

/** Opens the `number`th console. VIRTIO_OK, VIRTIO_NO_DEVICE, VIRTIO_BROKEN. */
int virtio_console_open(struct virtio_console *console, struct pci_bus *bus, unsigned int number);

/** Writes as many of the bytes as there are free buffers for, and returns their number: 0 while the
 * other end takes none. */
size_t virtio_console_write(struct virtio_console *console, const void *data, size_t bytes);

/** Reads up to `most` bytes that have arrived, and returns their number. */
size_t virtio_console_read(struct virtio_console *console, void *data, size_t most);

#endif
