/* SPDX-License-Identifier: Apache-2.0 */
/* Driver of port 0 of a virtio console (virtio_console.h). The caller owns struct virtio_console,
 * which has the buffers. */
#include <string.h>

#include "virtio_console.h"

#define QUEUE_RECEIVE 0U
#define QUEUE_SEND 1U

_Static_assert(VIRTIO_CONSOLE_BUFFERS <= VIRTQUEUE_ENTRIES, "a buffer for each descriptor");

/* Gives the buffer of the descriptor that is next to the device. */
static void post(struct virtio_console *console)
{
    uint8_t *buffer = console->receiving[console->receive.free];

    (void)virtqueue_add(&console->receive,
                        &(struct virtqueue_part){buffer, VIRTIO_CONSOLE_BYTES, true}, 1);
}

int virtio_console_open(struct virtio_console *console, struct pci_bus *bus, unsigned int number)
{
    int result = virtio_open(&console->device, bus, VIRTIO_CONSOLE, number, 0);

    if (result != VIRTIO_OK) {
        return result;
    }
    if (virtio_add_queue(&console->device, QUEUE_RECEIVE, &console->receive,
                         VIRTIO_CONSOLE_BUFFERS) != VIRTIO_OK ||
        virtio_add_queue(&console->device, QUEUE_SEND, &console->send, VIRTIO_CONSOLE_BUFFERS) !=
            VIRTIO_OK) {
        return VIRTIO_NO_DEVICE;
    }
    console->held = -1;
    virtio_start(&console->device);
    while (console->receive.unused != 0) {
        post(console);
    }
    virtqueue_notify(&console->receive);
    return VIRTIO_OK;
}

static void reclaim(struct virtio_console *console)
{
    uint32_t bytes;

    while (virtqueue_take(&console->send, &bytes) >= 0) {
    }
}

size_t virtio_console_write(struct virtio_console *console, const void *data, size_t bytes)
{
    const uint8_t *from = data;
    size_t written = 0;

    reclaim(console);
    while (written < bytes && console->send.unused != 0) {
        uint8_t *buffer = console->sending[console->send.free];
        size_t n = bytes - written < VIRTIO_CONSOLE_BYTES ? bytes - written : VIRTIO_CONSOLE_BYTES;

        memcpy(buffer, from + written, n);
        if (virtqueue_add(&console->send, &(struct virtqueue_part){buffer, (uint32_t)n, false}, 1) <
            0) {
            break;
        }
        written += n;
    }
    virtqueue_notify(&console->send);
    return written;
}

/* Goes to the next buffer that the device has filled, once the current one is used up. False: there
 * is none. */
static bool next_buffer(struct virtio_console *console)
{
    if (console->held >= 0 && console->taken < console->got) {
        return true;
    }
    if (console->held >= 0) {
        post(console); /* the same buffer: it is the first of the free list */
        virtqueue_notify(&console->receive);
    }
    console->taken = 0;
    console->held = virtqueue_take(&console->receive, &console->got);
    return console->held >= 0;
}

size_t virtio_console_read(struct virtio_console *console, void *data, size_t most)
{
    uint8_t *to = data;
    size_t read = 0;

    while (read < most && next_buffer(console)) {
        size_t left = console->got - console->taken, n = most - read < left ? most - read : left;

        memcpy(to + read, &console->receiving[console->held][console->taken], n);
        console->taken += (uint32_t)n;
        read += n;
    }
    return read;
}
