/* SPDX-License-Identifier: Apache-2.0 */
/* The switch at the other end of the wire reflects frames: one to the own address comes back. */
#include <stddef.h>
#include <string.h>

#include "machine.h"
#include "print.h"
#include "shared_ethernet.h"
#include "shared_test.h"

#define TYPE_HIGH 0x88U /* local experimental EtherType 0x88b5 */
#define TYPE_LOW 0xb5U
#define SHORTEST 60U /* bytes that arrive at least */
#define QUIET (PLATFORM_TIMEBASE_HZ / 10000U)

static struct ethernet port;
static uint8_t frame[ETHERNET_FRAME], buffers[2][ETHERNET_FRAME];

static void make_frame(const uint8_t *to, size_t bytes)
{
    memcpy(frame, to, ETHERNET_ADDRESS);
    memcpy(frame + ETHERNET_ADDRESS, port.mac, ETHERNET_ADDRESS);
    frame[12] = TYPE_HIGH;
    frame[13] = TYPE_LOW;
    for (size_t i = ETHERNET_HEADER; i < bytes; i++) {
        frame[i] = (uint8_t)(i * 3U + bytes);
    }
}

static void check_loop(size_t bytes)
{
    struct shared_completion done;
    size_t arrives = bytes < SHORTEST ? SHORTEST : bytes;

    make_frame(port.mac, bytes);
    memset(buffers, 0, sizeof(buffers));
    must(ethernet_post(&port, buffers[1], ETHERNET_FRAME, 1) == SHARED_OK, "post a buffer");
    must(ethernet_send(&port, frame, bytes) == SHARED_OK, "send");
    shared_wait(&port.receive, &done);
    must(done.status == SHARED_OK && done.tag == 1 && done.bytes == arrives, "the frame's length");
    must(memcmp(frame, buffers[1], bytes) == 0, "the frame");
}

static bool nothing_arrives(void)
{
    uint64_t end = machine_time() + QUIET;
    struct shared_completion done;

    while (machine_time() < end) {
        if (shared_take(&port.receive, &done)) {
            return false;
        }
    }
    return true;
}

static void check_errors(void)
{
    struct shared_completion done;

    make_frame(port.mac, 100);
    frame[11] ^= 1;
    must(ethernet_send(&port, frame, 100) == SHARED_FORBIDDEN, "another source");
    frame[11] ^= 1;
    must(ethernet_send(&port, frame, ETHERNET_HEADER - 1U) == SHARED_INVALID, "a short frame");
    must(ethernet_send(&port, frame, ETHERNET_FRAME + 1U) == SHARED_INVALID, "a long frame");
    must(ethernet_send(&port, (void *)0x1000, 100) == SHARED_OUTSIDE, "a frame in no memory");
    must(ethernet_send(&port, frame, 100) == SHARED_OK && nothing_arrives(),
         "a frame without a buffer is lost");
    must(ethernet_post(&port, buffers[0], 80, 7) == SHARED_OK &&
             ethernet_send(&port, frame, 100) == SHARED_OK,
         "a short buffer");
    shared_wait(&port.receive, &done);
    must(done.status == SHARED_BAD && done.tag == 7, "a frame that is longer than its buffer");
}

void check_ethernet(const void *fdt, unsigned long hart)
{
    must(ethernet_open(&port, fdt) == SHARED_OK, "open the port");
    must(nothing_arrives(), "silence");
    check_loop(ETHERNET_HEADER);
    check_loop(100);
    check_loop(ETHERNET_FRAME);
    check_errors();
    shared_sleep_on(&port.receive, hart);
    for (size_t bytes = 60; bytes < 100; bytes++) {
        check_loop(bytes);
    }
    print("shared: Ethernet tested\n");
}
