/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the driver of virtio network devices (virtio_test.h): the guest returns frames, or sends
 * frames and checks those that are returned. Owns the device and the counters of frames. */
#include <string.h>

#include "fdt.h"
#include "machine.h"
#include "print.h"
#include "random.h"
#include "virtio_net.h"
#include "virtio_test.h"

#define TYPE 12U /* offsets in a frame */
#define SEQUENCE 14U
#define SUM 18U
#define DATA 22U
#define TYPE_HIGH 0x88U /* local experimental EtherType 0x88b5 */
#define TYPE_LOW 0xb5U
#define WINDOW 16U /* frames on their way */
#define ROLE 8U    /* characters */
#define ANSWER_MS 2000U
#define HELLO_MS 100U
#define HELLOS 600U /* until the peer runs */
#define HELLO 0U    /* sequence number */

static struct virtio_net net;

static struct {
    uint8_t peer[VIRTIO_NET_ADDRESS];
    size_t bytes;
    unsigned long count, sent, back;
} traffic;

/* Exchanges source and destination of a frame. */
static void swap_addresses(uint8_t *frame)
{
    uint8_t address[VIRTIO_NET_ADDRESS];

    memcpy(address, frame, sizeof(address));
    memcpy(frame, frame + VIRTIO_NET_ADDRESS, sizeof(address));
    memcpy(frame + VIRTIO_NET_ADDRESS, address, sizeof(address));
}

static bool is_to_self(const uint8_t *frame, size_t bytes)
{
    return bytes >= VIRTIO_NET_SHORTEST && memcmp(frame, net.mac, VIRTIO_NET_ADDRESS) == 0;
}

/* Returns a frame; waits for a free buffer. */
static void echo(uint8_t *frame, size_t bytes)
{
    int result = VIRTIO_FULL;

    swap_addresses(frame);
    while (result == VIRTIO_FULL) {
        result = virtio_net_send(&net, frame, bytes);
    }
    must(result == VIRTIO_OK, "return a frame");
}

static void act_as_echo(unsigned long count)
{
    unsigned long returned = 0;

    print("virtio: net: echo\n");
    while ((count == 0 || returned < count) && !net.receive.broken && !net.send.broken) {
        size_t bytes;
        uint8_t *frame = virtio_net_receive(&net, &bytes);

        if (frame == NULL) {
            (void)virtio_wait(&net.device, &net.receive, ANSWER_MS);
        } else if (is_to_self(frame, bytes)) {
            echo(frame, bytes);
            returned++;
        }
    }
    print("virtio: net: %lu frames returned\n", returned);
}

static uint32_t sum(const uint8_t *data, size_t bytes)
{
    uint32_t a = 1, b = 0;

    for (size_t i = 0; i < bytes; i++) {
        a += data[i];
        b += a;
    }
    return b << 16 ^ a ^ b >> 16;
}

static void make_frame(uint8_t *frame, uint32_t sequence)
{
    struct random numbers = random_from(sequence);
    uint32_t check;

    memcpy(frame, traffic.peer, VIRTIO_NET_ADDRESS);
    memcpy(frame + VIRTIO_NET_ADDRESS, net.mac, VIRTIO_NET_ADDRESS);
    frame[TYPE] = TYPE_HIGH;
    frame[TYPE + 1U] = TYPE_LOW;
    memcpy(frame + SEQUENCE, &sequence, sizeof(sequence));
    for (size_t i = DATA; i < traffic.bytes; i++) {
        frame[i] = (uint8_t)(random_next(&numbers) >> 40);
    }
    check = sum(frame + DATA, traffic.bytes - DATA) ^ sequence;
    memcpy(frame + SUM, &check, sizeof(check));
}

static bool is_answer(const uint8_t *frame, size_t bytes)
{
    return is_to_self(frame, bytes) && bytes >= DATA && frame[TYPE] == TYPE_HIGH &&
           frame[TYPE + 1U] == TYPE_LOW;
}

/* The sequence number of an answer. Its data are compared with its checksum. */
static uint32_t check_answer(const uint8_t *frame, size_t bytes)
{
    uint32_t sequence, check;

    memcpy(&sequence, frame + SEQUENCE, sizeof(sequence));
    memcpy(&check, frame + SUM, sizeof(check));
    must(bytes == traffic.bytes, "the length of a frame that came back");
    must(check == (sum(frame + DATA, bytes - DATA) ^ sequence),
         "the checksum of a frame that came back");
    must(memcmp(frame + VIRTIO_NET_ADDRESS, traffic.peer, VIRTIO_NET_ADDRESS) == 0, "its source");
    return sequence;
}

/* The next answer within some ms: its sequence number, or negative. */
static int64_t await_answer(unsigned int ms)
{
    uint64_t end = machine_time() + (uint64_t)ms * (PLATFORM_TIMEBASE_HZ / 1000U);

    while (machine_time() < end) {
        size_t bytes;
        const uint8_t *frame = virtio_net_receive(&net, &bytes);

        if (frame != NULL && is_answer(frame, bytes)) {
            return check_answer(frame, bytes);
        }
        if (frame == NULL) {
            (void)virtio_wait(&net.device, &net.receive, ms);
        }
    }
    return -1;
}

static void send(uint32_t sequence)
{
    uint8_t *frame = virtio_net_buffer(&net);

    while (frame == NULL) {
        frame = virtio_net_buffer(&net);
    }
    make_frame(frame, sequence);
    must(virtio_net_submit(&net, traffic.bytes) == VIRTIO_OK, "send a frame");
}

/* Sends frames with the number HELLO until one comes back. The others may come back at any time
 * later. */
static bool greet(void)
{
    for (unsigned int i = 0; i < HELLOS; i++) {
        send(HELLO);
        if (await_answer(HELLO_MS) >= 0) {
            return true;
        }
    }
    return false;
}

static void act_as_sender(void)
{
    print("virtio: net: sends %lu frames of %lu bytes\n", traffic.count, traffic.bytes);
    if (!greet()) {
        must(false, "an answer of the peer");
        return;
    }
    while (traffic.back < traffic.count) {
        int64_t sequence;

        while (traffic.sent < traffic.count && traffic.sent - traffic.back < WINDOW) {
            traffic.sent++;
            send((uint32_t)traffic.sent);
        }
        sequence = await_answer(ANSWER_MS);
        if (sequence < 0) {
            break;
        }
        if (sequence != HELLO) {
            traffic.back++;
            must((uint64_t)sequence == traffic.back, "the order of the frames");
        }
    }
    must(traffic.back == traffic.count, "all frames came back");
    print("virtio: net: %lu frames of %lu bytes came back\n", traffic.back, traffic.bytes);
}

static void check_errors(void)
{
    static uint8_t frame[VIRTIO_NET_FRAME + 1U];

    must(virtio_net_send(&net, frame, VIRTIO_NET_SHORTEST - 1U) == VIRTIO_INVALID, "a short frame");
    must(virtio_net_send(&net, frame, VIRTIO_NET_FRAME + 1U) == VIRTIO_INVALID, "a long frame");
}

static void act(const struct test *test)
{
    char role[ROLE] = "";

    (void)fdt_bootarg(test->fdt, "role", role, sizeof(role));
    traffic.peer[0] = 2;
    traffic.peer[VIRTIO_NET_ADDRESS - 1U] = (uint8_t)fdt_bootarg_number(test->fdt, "peer", 2);
    traffic.bytes = fdt_bootarg_number(test->fdt, "size", 100);
    traffic.count = fdt_bootarg_number(test->fdt, "count", strcmp(role, "send") == 0 ? 100 : 0);
    if (strcmp(role, "echo") == 0) {
        act_as_echo(traffic.count);
    } else if (strcmp(role, "send") == 0 && traffic.bytes > DATA &&
               traffic.bytes <= VIRTIO_NET_FRAME) {
        act_as_sender();
    } else {
        must(role[0] == '\0', "boot arguments: role=echo, or role=send with size=23 to 1514");
    }
}

/* The `number`th device on PCI, or the only one on MMIO. */
static int open_net(struct test *test, unsigned int number)
{
    if (fdt_bootarg_number(test->fdt, "mmio", 0) == 0) {
        return virtio_net_open(&net, &test->bus, number);
    }
    return number == 0 ? virtio_net_open_mmio(&net, test->fdt) : VIRTIO_NO_DEVICE;
}

unsigned int check_net(struct test *test)
{
    unsigned int number = 0;
    int result = open_net(test, number);

    while (result == VIRTIO_OK) {
        if (fdt_bootarg_number(test->fdt, "sleep", 0) != 0) {
            virtio_sleep_on(&net.device, test->hart);
        }
        check_errors();
        traffic.sent = 0;
        traffic.back = 0;
        act(test);
        virtio_reset(&net.device);
        print("virtio: net %u tested\n", number);
        number++;
        result = open_net(test, number);
    }
    must(result == VIRTIO_NO_DEVICE, "open");
    return number;
}
