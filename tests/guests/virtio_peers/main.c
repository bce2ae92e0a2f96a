/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two VMs that an attacker (../attacker) or a restart of one of them must not affect. `role=ask`
 * sends frames and a stream to the other one, compares what comes back, overwrites its disk, and
 * reports
 *
 *      peers: 20 rounds, 0 wrong, 1 again
 *
 * Frames that are lost are sent again, and a stream that is reset is opened again, which `again`
 * counts. `role=answer` returns frames, the stream and the bytes of a line.
 */
#include <string.h>

#include "fdt.h"
#include "machine.h"
#include "print.h"
#include "random.h"
#include "timer.h"
#include "uart.h"
#include "virtio_blk.h"
#include "virtio_net.h"
#include "virtio_vsock.h"

#define VIRTIO_CONSOLE ((enum virtio_type)3)
#define TYPE_HIGH 0x88U /* local experimental EtherType 0x88b6 */
#define TYPE_LOW 0xb6U
#define HEADER 18U /* of a frame: addresses, type, sequence number */
#define SEQUENCE 14U
#define PORT 1234U
#define CID_ANSWER 4U
#define STREAM 1500U /* bytes of a round */
#define SECTORS 4U
#define MS (PLATFORM_TIMEBASE_HZ / 1000U)
#define RESEND_MS 20U
#define PATIENCE_MS 80U
#define IDLE_MS 50U /* after which a stream is given up: the peer was restarted */
#define ROUNDS_A_LINE 4U
#define ROLE 8U
#define LINE_BUFFERS 8U
#define LINE_BYTES 16U

int main(unsigned long hart, const void *fdt);

static struct virtio_net net;
static struct virtio_vsock vsock;
static struct virtio_blk disk;
static struct virtio_device line;
static struct virtqueue line_receive, line_send;
static uint8_t line_in[LINE_BUFFERS][LINE_BYTES], line_out[LINE_BUFFERS][LINE_BYTES];
static unsigned long rounds, wrong, again;

static bool within(uint64_t since, unsigned int ms)
{
    return machine_time() - since < ms * MS;
}

static void fill(uint8_t *data, size_t bytes, uint64_t seed)
{
    struct random numbers = random_from(seed);

    for (size_t i = 0; i < bytes; i++) {
        data[i] = (uint8_t)(random_next(&numbers) >> 40);
    }
}

static void must(bool holds, const char *what)
{
    if (!holds) {
        wrong++;
        print("peers: wrong: %s\n", what);
    }
}

/* --- ask --- */

static const uint8_t peer[VIRTIO_NET_ADDRESS] = {2, 0, 0, 0, 0, 4};

/* Waits for the frame: true if it came back. Other frames are an attacker's, or of an earlier
 * attempt. */
static bool await_frame(const uint8_t *frame, size_t bytes)
{
    uint64_t since = machine_time();

    while (within(since, RESEND_MS)) {
        size_t came;
        const uint8_t *back = virtio_net_receive(&net, &came);

        if (back == NULL) {
            (void)virtio_wait(&net.device, &net.receive, 1);
        } else if (came >= HEADER && memcmp(back + VIRTIO_NET_ADDRESS, peer, sizeof(peer)) == 0 &&
                   memcmp(back + 12, frame + 12, HEADER - 12U) == 0) {
            must(came == bytes && memcmp(back + HEADER, frame + HEADER, bytes - HEADER) == 0,
                 "the frame that came back");
            return true;
        }
    }
    return false;
}

static void exchange_frame(uint32_t round)
{
    static uint8_t frame[VIRTIO_NET_FRAME];
    size_t bytes = 60U + round * 97U % (VIRTIO_NET_FRAME - 60U);

    fill(frame, bytes, round);
    memcpy(frame, peer, sizeof(peer));
    memcpy(frame + VIRTIO_NET_ADDRESS, net.mac, sizeof(net.mac));
    frame[12] = TYPE_HIGH;
    frame[13] = TYPE_LOW;
    memcpy(frame + SEQUENCE, &round, sizeof(round));
    for (;;) {
        (void)virtio_net_send(&net, frame, bytes);
        if (await_frame(frame, bytes)) {
            return;
        }
        again++;
    }
}

static void connect(void)
{
    while (vsock.stream.state != VIRTIO_VSOCK_OPEN) {
        uint64_t since = machine_time();
        size_t bytes;

        virtio_vsock_connect(&vsock, CID_ANSWER, PORT);
        while (vsock.stream.state == VIRTIO_VSOCK_CONNECTING && within(since, PATIENCE_MS)) {
            (void)virtio_vsock_receive(&vsock, &bytes);
            (void)virtio_wait(&vsock.device, &vsock.receive, 1);
        }
        if (vsock.stream.state != VIRTIO_VSOCK_OPEN) {
            (void)virtio_wait(&net.device, &net.receive, RESEND_MS);
        }
    }
}

/* Sends a chunk, and compares what comes back. False: the stream was reset, or is stuck. */
static bool exchange_stream(uint64_t seed)
{
    static uint8_t chunk[STREAM];
    uint64_t since = machine_time();
    size_t sent = 0, back = 0, came = 0;

    fill(chunk, STREAM, seed);
    while (back < STREAM && vsock.stream.state == VIRTIO_VSOCK_OPEN && within(since, PATIENCE_MS)) {
        const uint8_t *data;

        sent += virtio_vsock_send(&vsock, chunk + sent, STREAM - sent);
        data = virtio_vsock_receive(&vsock, &came);
        if (data != NULL) {
            must(came <= STREAM - back && memcmp(data, chunk + back, came) == 0,
                 "the stream's data");
            back += came;
        } else {
            (void)virtio_wait(&vsock.device, &vsock.receive, 1);
        }
    }
    return back == STREAM;
}

static void exchange(uint64_t seed)
{
    connect();
    while (!exchange_stream(seed)) {
        again++;
        virtio_vsock_close(&vsock);
        connect();
    }
}

static void overwrite_disk(uint64_t seed)
{
    static uint8_t data[SECTORS * VIRTIO_BLK_SECTOR], back[sizeof(data)];
    uint64_t sector = seed * 7919U % (disk.sectors - SECTORS);

    fill(data, sizeof(data), ~seed);
    must(virtio_blk_write(&disk, sector, data, SECTORS) == VIRTIO_OK, "write");
    must(virtio_blk_read(&disk, sector, back, SECTORS) == VIRTIO_OK, "read");
    must(memcmp(data, back, sizeof(data)) == 0, "the data read");
}

static void ask(void)
{
    for (;;) {
        exchange_frame((uint32_t)rounds);
        exchange(rounds);
        overwrite_disk(rounds);
        must(!virtio_failed(&net.device) && !virtio_failed(&vsock.device) &&
                 !virtio_failed(&disk.device),
             "a device needs a reset");
        rounds++;
        if (rounds % ROUNDS_A_LINE == 0) {
            print("peers: %lu rounds, %lu wrong, %lu again\n", rounds, wrong, again);
        }
    }
}

/* --- answer --- */

static void return_frame(uint8_t *frame, size_t bytes)
{
    uint8_t from[VIRTIO_NET_ADDRESS];

    memcpy(from, frame + VIRTIO_NET_ADDRESS, sizeof(from));
    memcpy(frame, from, sizeof(from));
    memcpy(frame + VIRTIO_NET_ADDRESS, net.mac, sizeof(net.mac));
    (void)virtio_net_send(&net, frame, bytes);
}

static bool answer_frames(void)
{
    size_t bytes;
    uint8_t *frame = virtio_net_receive(&net, &bytes);

    if (frame != NULL && bytes >= HEADER && memcmp(frame, net.mac, sizeof(net.mac)) == 0) {
        return_frame(frame, bytes);
    }
    return frame != NULL;
}

/* Returns the bytes. Not in time: ends the stream, which must not continue without them. */
static void return_bytes(const uint8_t *data, size_t bytes)
{
    static uint8_t copy[VIRTIO_VSOCK_DATA];
    size_t sent = 0;

    memcpy(copy, data, bytes);
    for (uint64_t since = machine_time(); sent < bytes && within(since, RESEND_MS);) {
        sent += virtio_vsock_send(&vsock, copy + sent, bytes - sent);
    }
    if (sent < bytes) {
        virtio_vsock_close(&vsock);
    }
}

static bool answer_stream(void)
{
    static uint64_t last;
    size_t bytes;
    const uint8_t *data = virtio_vsock_receive(&vsock, &bytes);

    if (data != NULL || vsock.stream.state == VIRTIO_VSOCK_LISTENING) {
        last = machine_time();
    }
    if (data != NULL) {
        return_bytes(data, bytes);
    } else if (!vsock.stream.peer_sends || !within(last, IDLE_MS)) {
        virtio_vsock_listen(&vsock, PORT);
    }
    return data != NULL;
}

static void post_line(void)
{
    (void)virtqueue_add(&line_receive,
                        &(struct virtqueue_part){line_in[line_receive.free], LINE_BYTES, true}, 1);
}

/* Bytes for which there is no space are lost. */
static bool answer_line(void)
{
    uint32_t bytes = 0, ignored;
    int number = virtqueue_take(&line_receive, &bytes);

    while (virtqueue_take(&line_send, &ignored) >= 0) {
    }
    if (number < 0) {
        return false;
    }
    if (line_send.unused != 0 && bytes != 0) {
        memcpy(line_out[line_send.free], line_in[number], bytes);
        (void)virtqueue_add(&line_send,
                            &(struct virtqueue_part){line_out[line_send.free], bytes, false}, 1);
        virtqueue_notify(&line_send);
    }
    post_line();
    virtqueue_notify(&line_receive);
    return true;
}

static void answer(void)
{
    virtio_vsock_listen(&vsock, PORT);
    print("peers: answer\n");
    for (;;) {
        bool frames = answer_frames(), stream = answer_stream(), bytes = answer_line();

        if (!frames && !stream && !bytes) {
            (void)virtio_wait(&net.device, &net.receive, 1);
        }
        must(!virtio_failed(&net.device) && !virtio_failed(&vsock.device) && !virtio_failed(&line),
             "a device of answer needs a reset");
        if (wrong != 0) {
            return;
        }
    }
}

static bool open_line(struct pci_bus *bus)
{
    if (virtio_open(&line, bus, VIRTIO_CONSOLE, 0, 0) != VIRTIO_OK ||
        virtio_add_queue(&line, 0, &line_receive, LINE_BUFFERS) != VIRTIO_OK ||
        virtio_add_queue(&line, 1, &line_send, LINE_BUFFERS) != VIRTIO_OK) {
        return false;
    }
    virtio_start(&line);
    while (line_receive.unused != 0) {
        post_line();
    }
    virtqueue_notify(&line_receive);
    return true;
}

int main(unsigned long hart, const void *fdt)
{
    char role[ROLE] = "";
    struct pci_bus bus;
    bool asks;

    uart_init();
    (void)timer_init();
    asks = fdt_bootarg(fdt, "role", role, sizeof(role)) != NULL && strcmp(role, "ask") == 0;
    if (!pci_open(&bus, fdt) || virtio_net_open(&net, &bus, 0) != VIRTIO_OK ||
        virtio_vsock_open(&vsock, &bus, 0) != VIRTIO_OK ||
        !(asks ? virtio_blk_open(&disk, &bus, 0) == VIRTIO_OK : open_line(&bus))) {
        print(
            "peers: expected a network, a socket, and a disk (role=ask) or a line (role=answer)\n");
        return 0;
    }
    virtio_sleep_on(&net.device, hart);
    virtio_sleep_on(&vsock.device, hart);
    if (asks) {
        ask();
    } else {
        answer();
    }
    return 0;
}
