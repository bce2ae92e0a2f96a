/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Load of a virtual network for measurements, polled. The guest prints a line before its first and
 * after its last frame, and nothing
 * in between. Boot arguments:
 *   role=send      sends `frames` frames (default 1000) of `size` bytes (default 64) as fast as the
 *                  device takes them
 *   role=receive   takes as many frames; ends as well when none has arrived for a second after the
 *                  first one
 *   role=flood     sends without end
 *   role=measure   counts the instructions of a notification without a frame, and with one of
 *                  `size` bytes
 *   role=ring      with role=sleep in the other VM of a shared region: counts the instructions from
 *                  before a doorbell's store, behind
 *                  which the guest sleeps, to behind the acknowledgement of its interrupt in the
 *                  other VM, which slept
 *   peer=n         to 02:00:00:00:00:n (decimal; default 2)
 *   wait=n         ms before the first frame (default 0)
 */
#include <limits.h>
#include <string.h>

#include "bench.h"
#include "csr.h"
#include "fdt.h"
#include "ivshmem.h"
#include "machine.h"
#include "plic.h"
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
        (void)virtqueue_add(&net.send,
                            &(struct virtqueue_part){frame - VIRTIO_NET_HEADER, length, false}, 1);
        full[i] = notify();
        timer_sleep_until(machine_time() + PLATFORM_TIMEBASE_HZ / 1000U);
    }
    bench_report("virtio.notify", "instructions", empty, BENCH_SAMPLES);
    bench_report("virtio.net.1500", "instructions", full, BENCH_SAMPLES);
    return BENCH_SAMPLES;
}

/* --- doorbells --- */

/* In the shared memory; the sleeper's words are its own, and so are the ringer's. */
struct wake {
    volatile uint64_t rung;          /* instructions before the store */
    volatile uint64_t asleep, awake; /* rings that the sleeper waits for, and has acknowledged */
    /* instructions at its first one, and behind the acknowledgement */
    volatile uint64_t woken, done;
};

#define SLEEPER 1U /* number of its VM */

/* The doorbell is the last thing before the guest sleeps, so the other VM is next. */
static void ring(const struct ivshmem *shared, struct wake *wake)
{
    static uint64_t whole[BENCH_SAMPLES], first[BENCH_SAMPLES];

    for (size_t i = 0; i < BENCH_SAMPLES; i++) {
        do {
            timer_sleep_until(machine_time() + PLATFORM_TIMEBASE_HZ / 1000U);
        } while (wake->asleep != i + 1U);
        timer_set(machine_time() + PLATFORM_TIMEBASE_HZ / 1000U);
        machine_wake_by_timer(true);
        wake->rung = machine_instructions();
        ivshmem_ring(shared, SLEEPER);
        machine_wait();
        while (wake->awake != i + 1U) {
        }
        first[i] = wake->woken - wake->rung;
        whole[i] = wake->done - wake->rung;
    }
    bench_report("virtio.wake.first", "instructions", first, BENCH_SAMPLES);
    bench_report("virtio.wake", "instructions", whole, BENCH_SAMPLES);
}

static void sleep_and_acknowledge(const struct ivshmem *shared, struct wake *wake,
                                  unsigned long hart)
{
    uint32_t context = plic_context(hart);

    plic_open(context, shared->function.irq);
    csr_set_sie(SIE_EXTERNAL);
    for (uint64_t i = 1; i <= BENCH_SAMPLES; i++) {
        uint32_t source;
        uint64_t woken;

        wake->asleep = i;
        machine_wait();
        woken = machine_instructions();
        source = plic_claim(context);
        (void)ivshmem_rung(shared);
        plic_complete(context, source);
        wake->done = machine_instructions();
        wake->woken = woken;
        wake->awake = i;
    }
}

static int measure_wake(struct pci_bus *bus, bool rings, unsigned long hart)
{
    static struct ivshmem shared;

    if (!ivshmem_open(&shared, bus, 0)) {
        print("virtio_bench: expected a shared region\n");
        return 0;
    }
    (void)ivshmem_rung(&shared);
    if (rings) {
        ring(&shared, shared.memory);
    } else {
        sleep_and_acknowledge(&shared, shared.memory, hart);
    }
    print("BENCH done\n");
    return 0;
}

static bool is_role(const char *role, const char *one, const char *other)
{
    return strcmp(role, one) == 0 || strcmp(role, other) == 0;
}

static int measure_frames(const void *fdt, struct pci_bus *bus, const char *role)
{
    unsigned long frames = fdt_bootarg_number(fdt, "frames", 1000);
    size_t bytes = fdt_bootarg_number(fdt, "size", 64);

    if (bytes < VIRTIO_NET_SHORTEST || bytes > VIRTIO_NET_FRAME ||
        virtio_net_open(&net, bus, 0) != VIRTIO_OK) {
        print("virtio_bench: expected size=14 to 1514, and a network device\n");
        return 0;
    }
    peer[VIRTIO_NET_ADDRESS - 1U] = (uint8_t)fdt_bootarg_number(fdt, "peer", 2);
    print("virtio_bench: %s begins, %lu bytes\n", role, bytes);
    timer_sleep_until(machine_time() +
                      fdt_bootarg_number(fdt, "wait", 0) * (PLATFORM_TIMEBASE_HZ / 1000U));
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

int main(unsigned long hart, const void *fdt)
{
    char role[ROLE] = "";
    struct pci_bus bus;

    uart_init();
    (void)timer_init();
    if (fdt_bootarg(fdt, "role", role, sizeof(role)) == NULL || !pci_open(&bus, fdt)) {
        print("virtio_bench: expected role=send, receive, flood, measure, ring or sleep, and PCI "
              "functions\n");
        return 0;
    }
    if (is_role(role, "ring", "sleep")) {
        return measure_wake(&bus, strcmp(role, "ring") == 0, hart);
    }
    return measure_frames(fdt, &bus, role);
}
