/* SPDX-License-Identifier: Apache-2.0 */
/* Driver of a virtio socket device: packets, credit, and the state of the stream (virtio_vsock.h).
 * The caller owns struct virtio_vsock, which has the buffers. */
#include <string.h>

#include "virtio_vsock.h"

#define QUEUE_RECEIVE 0U
#define QUEUE_SEND 1U
#define QUEUE_EVENT 2U
#define EVENTS 8U
#define CONFIG_CID 0U
#define TYPE_STREAM 1U
#define FIRST_PORT 1024U /* of streams that the guest opens */
#define HEADER sizeof(struct virtio_vsock_header)
#define SPACE (VIRTIO_VSOCK_PACKETS * VIRTIO_VSOCK_DATA)
#define RESERVED 4U /* packets that data do not use: for control */
#define WAIT_MS 1000U

enum op {
    OP_REQUEST = 1,
    OP_RESPONSE = 2,
    OP_RESET = 3,
    OP_SHUTDOWN = 4,
    OP_DATA = 5,
    OP_CREDIT_UPDATE = 6,
    OP_CREDIT_REQUEST = 7,
};

#define SHUTDOWN_RECEIVE 1U
#define SHUTDOWN_SEND 2U

_Static_assert(sizeof(struct virtio_vsock_header) == 44, "section 5.10.6");

/* Gives the buffer of the descriptor that is next to the device. */
static void post(struct virtio_vsock *vsock)
{
    struct virtio_vsock_packet *packet = &vsock->receiving[vsock->receive.free];

    (void)virtqueue_add(&vsock->receive, &(struct virtqueue_part){packet, sizeof(*packet), true},
                        1);
}

int virtio_vsock_open(struct virtio_vsock *vsock, struct pci_bus *bus, unsigned int number)
{
    int result = virtio_open(&vsock->device, bus, VIRTIO_VSOCK, number, 0);

    if (result != VIRTIO_OK) {
        return result;
    }
    if (virtio_add_queue(&vsock->device, QUEUE_RECEIVE, &vsock->receive, VIRTIO_VSOCK_PACKETS) !=
            VIRTIO_OK ||
        virtio_add_queue(&vsock->device, QUEUE_SEND, &vsock->send, VIRTIO_VSOCK_PACKETS) !=
            VIRTIO_OK ||
        virtio_add_queue(&vsock->device, QUEUE_EVENT, &vsock->event, EVENTS) != VIRTIO_OK) {
        return VIRTIO_NO_DEVICE;
    }
    vsock->cid = virtio_config64(&vsock->device, CONFIG_CID);
    vsock->stream = (struct virtio_vsock_stream){.state = VIRTIO_VSOCK_CLOSED};
    vsock->held = -1;
    virtio_start(&vsock->device);
    while (vsock->receive.unused != 0) {
        post(vsock);
    }
    virtqueue_notify(&vsock->receive);
    return VIRTIO_OK;
}

static void reclaim(struct virtio_vsock *vsock)
{
    uint32_t bytes;

    while (virtqueue_take(&vsock->send, &bytes) >= 0) {
    }
}

/* A free packet, for which control may wait; NULL: there is none. */
static struct virtio_vsock_packet *find_packet(struct virtio_vsock *vsock)
{
    reclaim(vsock);
    if (vsock->send.unused == 0 &&
        virtio_wait(&vsock->device, &vsock->send, WAIT_MS) == VIRTIO_OK) {
        reclaim(vsock);
    }
    return vsock->send.unused != 0 ? &vsock->sending[vsock->send.free] : NULL;
}

/* Sends a packet with the data that are in it. */
static void submit(struct virtio_vsock *vsock, struct virtio_vsock_packet *packet)
{
    packet->header.source[0] = (uint32_t)vsock->cid;
    packet->header.source[1] = (uint32_t)(vsock->cid >> 32);
    packet->header.type = TYPE_STREAM;
    (void)virtqueue_add(
        &vsock->send,
        &(struct virtqueue_part){packet, (uint32_t)HEADER + packet->header.bytes, false}, 1);
    virtqueue_notify(&vsock->send);
}

/* Sends a packet of the stream. The packet's data are there already. */
static void submit_of_stream(struct virtio_vsock *vsock, struct virtio_vsock_packet *packet,
                             enum op op, uint32_t bytes, uint32_t flags)
{
    struct virtio_vsock_stream *stream = &vsock->stream;

    packet->header = (struct virtio_vsock_header){
        .target = {(uint32_t)stream->peer, (uint32_t)(stream->peer >> 32)},
        .source_port = stream->port,
        .target_port = stream->peer_port,
        .bytes = bytes,
        .op = (uint16_t)op,
        .flags = flags,
        .space = SPACE,
        .forwarded = stream->forwarded};
    stream->reported = stream->forwarded;
    submit(vsock, packet);
}

static void control(struct virtio_vsock *vsock, enum op op, uint32_t flags)
{
    struct virtio_vsock_packet *packet = find_packet(vsock);

    if (packet != NULL) {
        submit_of_stream(vsock, packet, op, 0, flags);
    }
}

/* Refuses a packet that belongs to no stream. */
static void refuse(struct virtio_vsock *vsock, const struct virtio_vsock_header *header)
{
    struct virtio_vsock_packet *packet = header->op != OP_RESET ? find_packet(vsock) : NULL;

    if (packet != NULL) {
        packet->header =
            (struct virtio_vsock_header){.target = {header->source[0], header->source[1]},
                                         .source_port = header->target_port,
                                         .target_port = header->source_port,
                                         .op = OP_RESET};
        submit(vsock, packet);
    }
}

void virtio_vsock_close(struct virtio_vsock *vsock)
{
    if (vsock->stream.state == VIRTIO_VSOCK_OPEN ||
        vsock->stream.state == VIRTIO_VSOCK_CONNECTING) {
        control(vsock, OP_RESET, 0);
    }
    vsock->stream = (struct virtio_vsock_stream){.state = VIRTIO_VSOCK_CLOSED};
}

void virtio_vsock_listen(struct virtio_vsock *vsock, uint32_t port)
{
    virtio_vsock_close(vsock);
    vsock->stream.state = VIRTIO_VSOCK_LISTENING;
    vsock->stream.port = port;
}

void virtio_vsock_connect(struct virtio_vsock *vsock, uint64_t cid, uint32_t port)
{
    virtio_vsock_close(vsock);
    vsock->own_port = vsock->own_port < FIRST_PORT ? FIRST_PORT : vsock->own_port + 1U;
    vsock->stream = (struct virtio_vsock_stream){.state = VIRTIO_VSOCK_CONNECTING,
                                                 .peer = cid,
                                                 .port = vsock->own_port,
                                                 .peer_port = port,
                                                 .peer_sends = true,
                                                 .peer_receives = true};
    control(vsock, OP_REQUEST, 0);
}

static uint64_t source_of(const struct virtio_vsock_header *header)
{
    return (uint64_t)header->source[1] << 32 | header->source[0];
}

static bool is_of_stream(const struct virtio_vsock_stream *stream,
                         const struct virtio_vsock_header *header)
{
    return (stream->state == VIRTIO_VSOCK_OPEN || stream->state == VIRTIO_VSOCK_CONNECTING) &&
           source_of(header) == stream->peer && header->source_port == stream->peer_port &&
           header->target_port == stream->port;
}

static void accept(struct virtio_vsock *vsock, const struct virtio_vsock_header *header)
{
    if (vsock->stream.state != VIRTIO_VSOCK_LISTENING ||
        header->target_port != vsock->stream.port) {
        refuse(vsock, header);
        return;
    }
    vsock->stream = (struct virtio_vsock_stream){.state = VIRTIO_VSOCK_OPEN,
                                                 .peer = source_of(header),
                                                 .port = header->target_port,
                                                 .peer_port = header->source_port,
                                                 .peer_sends = true,
                                                 .peer_receives = true,
                                                 .peer_space = header->space,
                                                 .peer_forwarded = header->forwarded};
    control(vsock, OP_RESPONSE, 0);
}

static void end(struct virtio_vsock_stream *stream)
{
    stream->state = VIRTIO_VSOCK_CLOSED;
    stream->peer_sends = false;
    stream->peer_receives = false;
}

static void note_shutdown(struct virtio_vsock *vsock, uint32_t flags)
{
    struct virtio_vsock_stream *stream = &vsock->stream;

    stream->peer_sends = stream->peer_sends && (flags & SHUTDOWN_SEND) == 0;
    stream->peer_receives = stream->peer_receives && (flags & SHUTDOWN_RECEIVE) == 0;
    if (!stream->peer_sends && !stream->peer_receives) {
        control(vsock, OP_RESET, 0);
        end(stream);
    }
}

/* Handles a packet of the stream. True: it has data. */
static bool handle_of_stream(struct virtio_vsock *vsock, const struct virtio_vsock_header *header)
{
    struct virtio_vsock_stream *stream = &vsock->stream;

    stream->peer_space = header->space;
    stream->peer_forwarded = header->forwarded;
    switch (header->op) {
    case OP_RESPONSE:
        stream->state = VIRTIO_VSOCK_OPEN;
        return false;
    case OP_RESET:
        end(stream);
        return false;
    case OP_SHUTDOWN:
        note_shutdown(vsock, header->flags);
        return false;
    case OP_CREDIT_REQUEST:
        control(vsock, OP_CREDIT_UPDATE, 0);
        return false;
    case OP_DATA:
        return stream->state == VIRTIO_VSOCK_OPEN && stream->peer_sends && header->bytes != 0;
    default:
        return false;
    }
}

/* Handles a packet of which the device has written so many bytes. True: it has data of the
 * stream. */
static bool handle(struct virtio_vsock *vsock, const struct virtio_vsock_header *header,
                   uint32_t written)
{
    if (written < HEADER || header->bytes > written - HEADER || header->type != TYPE_STREAM) {
        return false;
    }
    if (header->op == OP_REQUEST) {
        accept(vsock, header);
        return false;
    }
    if (!is_of_stream(&vsock->stream, header)) {
        refuse(vsock, header);
        return false;
    }
    return handle_of_stream(vsock, header);
}

/* Gives the packet back to the device whose data the guest has taken. */
static void give_back(struct virtio_vsock *vsock)
{
    struct virtio_vsock_stream *stream = &vsock->stream;

    if (vsock->held < 0) {
        return;
    }
    post(vsock); /* the same packet: it is the first of the free list */
    virtqueue_notify(&vsock->receive);
    vsock->held = -1;
    if (stream->state == VIRTIO_VSOCK_OPEN && stream->forwarded - stream->reported >= SPACE / 2U) {
        control(vsock, OP_CREDIT_UPDATE, 0);
    }
}

const uint8_t *virtio_vsock_receive(struct virtio_vsock *vsock, size_t *bytes)
{
    for (unsigned int i = 0; i < VIRTIO_VSOCK_PACKETS; i++) {
        struct virtio_vsock_header header;
        uint32_t written = 0;

        give_back(vsock);
        vsock->held = virtqueue_take(&vsock->receive, &written);
        if (vsock->held < 0) {
            return NULL;
        }
        header = vsock->receiving[vsock->held].header; /* a copy: the device could change it */
        if (handle(vsock, &header, written)) {
            vsock->stream.forwarded += header.bytes;
            *bytes = header.bytes;
            return vsock->receiving[vsock->held].data;
        }
    }
    return NULL;
}

/* Bytes that the peer has space for. */
static size_t credit(const struct virtio_vsock_stream *stream)
{
    uint32_t waiting = stream->sent - stream->peer_forwarded;

    return waiting < stream->peer_space ? stream->peer_space - waiting : 0;
}

/* Sends at most a packet of data: bytes sent. */
static size_t send_packet(struct virtio_vsock *vsock, const uint8_t *data, size_t bytes)
{
    size_t most = credit(&vsock->stream);
    struct virtio_vsock_packet *packet;

    reclaim(vsock);
    most = most < VIRTIO_VSOCK_DATA ? most : VIRTIO_VSOCK_DATA;
    bytes = bytes < most ? bytes : most;
    if (bytes == 0 || vsock->send.unused <= RESERVED) {
        return 0;
    }
    packet = &vsock->sending[vsock->send.free];
    memcpy(packet->data, data, bytes);
    submit_of_stream(vsock, packet, OP_DATA, (uint32_t)bytes, 0);
    vsock->stream.sent += (uint32_t)bytes;
    return bytes;
}

size_t virtio_vsock_send(struct virtio_vsock *vsock, const void *data, size_t bytes)
{
    size_t sent = 0, more = 1;

    while (more != 0 && vsock->stream.state == VIRTIO_VSOCK_OPEN && vsock->stream.peer_receives) {
        more = send_packet(vsock, (const uint8_t *)data + sent, bytes - sent);
        sent += more;
    }
    return sent;
}

void virtio_vsock_finish(struct virtio_vsock *vsock)
{
    if (vsock->stream.state == VIRTIO_VSOCK_OPEN) {
        control(vsock, OP_SHUTDOWN, SHUTDOWN_SEND);
    }
}
