/* SPDX-License-Identifier: Apache-2.0 */
/* Driver of a virtio network device (virtio_net.h). The caller owns struct virtio_net, which has
 * the buffers. */
#include <string.h>

#include "virtio_net.h"

#define F_MAC (UINT64_C(1) << 5)
#define QUEUE_RECEIVE 0U
#define QUEUE_SEND 1U
#define BYTES (VIRTIO_NET_HEADER + VIRTIO_NET_FRAME)

_Static_assert(VIRTIO_NET_BUFFERS <= VIRTQUEUE_ENTRIES, "a buffer for each descriptor");

/* Gives the buffer of the descriptor that is next to the device. */
static void post(struct virtio_net *net)
{
    struct virtio_net_buffer *buffer = &net->receiving[net->receive.free];

    (void)virtqueue_add(&net->receive, &(struct virtqueue_part){buffer->header, BYTES, true}, 1);
}

static int start(struct virtio_net *net)
{
    if ((net->device.features & F_MAC) == 0 ||
        virtio_add_queue(&net->device, QUEUE_RECEIVE, &net->receive, VIRTIO_NET_BUFFERS) !=
            VIRTIO_OK ||
        virtio_add_queue(&net->device, QUEUE_SEND, &net->send, VIRTIO_NET_BUFFERS) != VIRTIO_OK) {
        return VIRTIO_NO_DEVICE;
    }
    for (unsigned int i = 0; i < VIRTIO_NET_ADDRESS; i++) {
        net->mac[i] = virtio_config8(&net->device, i);
    }
    net->held = -1;
    virtio_start(&net->device);
    while (net->receive.unused != 0) {
        post(net);
    }
    virtqueue_notify(&net->receive);
    return VIRTIO_OK;
}

int virtio_net_open(struct virtio_net *net, struct pci_bus *bus, unsigned int number)
{
    int result = virtio_open(&net->device, bus, VIRTIO_NET, number, F_MAC);

    return result == VIRTIO_OK ? start(net) : result;
}

int virtio_net_open_mmio(struct virtio_net *net, const void *fdt)
{
    int result = virtio_open_mmio(&net->device, fdt, VIRTIO_NET, F_MAC);

    return result == VIRTIO_OK ? start(net) : result;
}

static void reclaim(struct virtio_net *net)
{
    uint32_t bytes;

    while (virtqueue_take(&net->send, &bytes) >= 0) {
    }
}

uint8_t *virtio_net_buffer(struct virtio_net *net)
{
    reclaim(net);
    return net->send.unused != 0 ? net->sending[net->send.free].frame : NULL;
}

int virtio_net_submit(struct virtio_net *net, size_t bytes)
{
    struct virtio_net_buffer *buffer;
    int result;

    if (bytes < VIRTIO_NET_SHORTEST || bytes > VIRTIO_NET_FRAME) {
        return VIRTIO_INVALID;
    }
    if (net->send.unused == 0) {
        return VIRTIO_FULL;
    }
    buffer = &net->sending[net->send.free];
    memset(buffer->header, 0, VIRTIO_NET_HEADER);
    result = virtqueue_add(
        &net->send,
        &(struct virtqueue_part){buffer->header, (uint32_t)(VIRTIO_NET_HEADER + bytes), false}, 1);
    virtqueue_notify(&net->send);
    return result < 0 ? result : VIRTIO_OK;
}

int virtio_net_send(struct virtio_net *net, const void *frame, size_t bytes)
{
    uint8_t *buffer = virtio_net_buffer(net);

    if (buffer == NULL) {
        return VIRTIO_FULL;
    }
    if (bytes <= VIRTIO_NET_FRAME) {
        memcpy(buffer, frame, bytes);
    }
    return virtio_net_submit(net, bytes);
}

unsigned int virtio_net_waiting(struct virtio_net *net)
{
    reclaim(net);
    return (unsigned int)(net->send.size - net->send.unused);
}

uint8_t *virtio_net_receive(struct virtio_net *net, size_t *bytes)
{
    uint32_t written = 0;

    if (net->held >= 0) {
        post(net); /* the same buffer: it is the first of the free list */
        virtqueue_notify(&net->receive);
    }
    net->held = virtqueue_take(&net->receive, &written);
    if (net->held < 0) {
        return NULL;
    }
    *bytes = written > VIRTIO_NET_HEADER ? written - VIRTIO_NET_HEADER : 0;
    return net->receiving[net->held].frame;
}
