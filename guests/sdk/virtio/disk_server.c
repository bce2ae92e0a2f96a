/* SPDX-License-Identifier: Apache-2.0 */
/* Driver of a disk server, with one answer at a time (disk_server.h). The caller owns struct
 * disk_server, which has the buffers. */
#include "disk_server.h"

#define ANSWER_MS 10000U

_Static_assert(DISK_SERVER_BUFFERS <= VIRTQUEUE_ENTRIES, "a buffer for each descriptor");

/* Offers the buffer of the descriptor that is next. */
static void offer(struct disk_server *server)
{
    struct disk_server_buffer *buffer = &server->buffers[server->requests.free];

    (void)virtqueue_add(&server->requests, &(struct virtqueue_part){buffer, sizeof(*buffer), true},
                        1);
}

int disk_server_open(struct disk_server *server, struct pci_bus *bus)
{
    int result = virtio_open(&server->device, bus, VIRTIO_DISK_SERVER, 0, 0);

    if (result != VIRTIO_OK) {
        return result;
    }
    if (virtio_add_queue(&server->device, DISK_SERVER_REQUESTS, &server->requests,
                         DISK_SERVER_BUFFERS) != VIRTIO_OK ||
        virtio_add_queue(&server->device, DISK_SERVER_ANSWERS, &server->answers, 2) != VIRTIO_OK) {
        return VIRTIO_NO_DEVICE;
    }
    server->current = -1;
    virtio_start(&server->device);
    while (server->requests.unused != 0) {
        offer(server);
    }
    virtqueue_notify(&server->requests);
    return VIRTIO_OK;
}

uint8_t *disk_server_next(struct disk_server *server, struct disk_request *request)
{
    uint32_t bytes = 0;

    server->current = virtqueue_take(&server->requests, &bytes);
    if (server->current < 0 || bytes < sizeof(*request)) {
        return NULL;
    }
    *request = server->buffers[server->current].request;
    return server->buffers[server->current].data;
}

int disk_server_answer(struct disk_server *server, const struct disk_request *request,
                       uint32_t status)
{
    const struct virtqueue_part parts[2] = {
        {&server->answer, sizeof(server->answer), false},
        {server->buffers[server->current].data, request->bytes, false}};
    bool data = request->type == DISK_READ && status == DISK_OK;
    uint32_t bytes;

    server->answer =
        (struct disk_answer){.disk = request->disk, .number = request->number, .status = status};
    if (virtqueue_add(&server->answers, parts, data ? 2 : 1) < 0) {
        return VIRTIO_BROKEN;
    }
    virtqueue_notify(&server->answers);
    if (virtio_wait(&server->device, &server->answers, ANSWER_MS) != VIRTIO_OK ||
        virtqueue_take(&server->answers, &bytes) < 0) {
        return VIRTIO_BROKEN;
    }
    offer(server); /* the buffer of this request: its descriptor is the next free one */
    virtqueue_notify(&server->requests);
    return VIRTIO_OK;
}
