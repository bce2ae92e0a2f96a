/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Load of a virtual network for measurements, polled. The guest prints a line before its first and after its last frame, and nothing
 * in between. Boot arguments:
 *   role=send      sends `frames` frames (default 1000) of `size` bytes (default 64) as fast as the device takes them
 *   role=receive   takes as many frames; ends as well when none has arrived for a second after the first one
 *   role=flood     sends without end
 *   role=measure   counts the instructions of a notification without a frame, and with one of `size` bytes
 *   peer=n         to 02:00:00:00:00:n (decimal; default 2)
 *   wait=n         ms before the first frame (default 0)
 */
#include <limits.h>
#include <string.h>

#include "bench.h"
#include "fdt.h"
#include "machine.h"
#include "print.h"
#include "timer.h"
#include "uart.h"
#include "virtio_net.h"

#define ROLE 8U /* characters */
#define TYPE 12U
#define TYPE_HIGH 0x88U /* local experimental EtherType 0x88b5 */
#define TYPE_LOW 0xb5U

int main(unsigned long hart, const void *fdt);

static struct virtio_net net;
static uint8_t peer[VIRTIO_NET_ADDRESS] = {2};

static void write_header(uint8_t *frame)
{
    memcpy(frame, peer, sizeof(peer));
    memcpy(frame + sizeof(peer), net.mac, sizeof(net.mac));
    frame[TYPE] = TYPE_HIGH;
    frame[TYPE + 1U] = TYPE_LOW;
}

/* The buffers keep their data: each frame is written once, and then only submitted. */
static unsigned long send(unsigned long frames, size_t bytes)
{
    unsigned long sent = 0;

    for (unsigned int i = 0; i < VIRTIO_NET_BUFFERS; i++) {
        write_header(net.sending[i].frame);
    }
    while (sent < frames && !net.send.broken) {
        if (virtio_net_buffer(&net) != NULL) {
            sent += virtio_net_submit(&net, bytes) == VIRTIO_OK ? 1U : 0U;
        }
    }
    while (virtio_net_waiting(&net) != 0 && !net.send.broken) {
    }
    return sent;
}

static unsigned long receive(unsigned long frames)
{
    uint64_t end = UINT64_MAX;
    unsigned long received = 0;

    while (received < frames && machine_time() < end) {
        size_t bytes;

        if (virtio_net_receive(&net, &bytes) != NULL) {
            received++;
            end = machine_time() + PLATFORM_TIMEBASE_HZ;
        }
    }
    return received;
}

/* Instructions from before the notification to behind it, those of the hypervisor included. */
static uint64_t notify(void)
{
    uint64_t before = machine_instructions();

    *net.send.door.narrow = net.send.door.number;
    return machine_instructions() - before;
}

/* The receiver has time to offer its buffers again between two frames. */
static unsigned long measure(size_t bytes)
{
    static uint64_t empty[BENCH_SAMPLES], full[BENCH_SAMPLES];

    for (size_t i = 0; i < BENCH_SAMPLES; i++) {
        uint8_t *frame = virtio_net_buffer(&net);
        uint32_t length = (uint32_t)(VIRTIO_NET_HEADER + bytes);

        empty[i] = notify();
        write_header(frame);
        (void)virtqueue_add(&net.send, &(struct virtqueue_part){frame - VIRTIO_NET_HEADER, length, false}, 1);
        full[i] = notify();
        timer_sleep_until(machine_time() + PLATFORM_TIMEBASE_HZ / 1000U);
    }
    bench_report("virtio.notify", "instructions", empty, BENCH_SAMPLES);
    bench_report("virtio.net.1500", "instructions", full, BENCH_SAMPLES);
    return BENCH_SAMPLES;
}

int main(unsigned long hart, const void *fdt)
{
    char role[ROLE] = "";
    struct pci_bus bus;
    unsigned long frames = fdt_bootarg_number(fdt, "frames", 1000);
    size_t bytes = fdt_bootarg_number(fdt, "size", 64);

    (void)hart;
    uart_init();
    (void)timer_init();
    if (fdt_bootarg(fdt, "role", role, sizeof(role)) == NULL || bytes < VIRTIO_NET_SHORTEST ||
        bytes > VIRTIO_NET_FRAME || !pci_open(&bus, fdt) || virtio_net_open(&net, &bus, 0) != VIRTIO_OK) {
        print("virtio_bench: expected role=send, receive or flood, size=14 to 1514, and a network device\n");
        return 0;
    }
    peer[VIRTIO_NET_ADDRESS - 1U] = (uint8_t)fdt_bootarg_number(fdt, "peer", 2);
    print("virtio_bench: %s begins, %lu bytes\n", role, bytes);
    timer_sleep_until(machine_time() + fdt_bootarg_number(fdt, "wait", 0) * (PLATFORM_TIMEBASE_HZ / 1000U));
    if (strcmp(role, "receive") == 0) {
        frames = receive(frames);
    } else if (strcmp(role, "measure") == 0) {
        frames = measure(bytes);
    } else {
        frames = send(strcmp(role, "flood") == 0 ? ULONG_MAX : frames, bytes);
    }
    print("virtio_bench: %s done, %lu frames\nBENCH done\n", role, frames);
    return 0;
}
