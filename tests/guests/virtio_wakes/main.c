/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two VMs of eight VCPUs that sleep, and all of which take the interrupts of a console and a
 * socket, so that each interrupt wakes them all. `role=send` sends both to the other VM, whose
 * context id is the next one, resets its console a few times, and then sends without end; it
 * reports
 *
 *      virtio_wakes: resets done
 *
 * `role=sleep` takes what comes, and reports each REPORT buffers of both
 *
 *      virtio_wakes: 100 lines, 100 packets
 *
 * All buffers are at odd addresses, where copies take longest.
 */
#include <string.h>

#include "csr.h"
#include "fdt.h"
#include "machine.h"
#include "plic.h"
#include "print.h"
#include "random.h"
#include "sbi.h"
#include "timer.h"
#include "trap.h"
#include "uart.h"
#include "virtio_console.h"
#include "virtio_vsock.h"

#define HARTS 8U
#define ENTRIES 8U
#define LINE_BYTES 1024U
#define PACKET_BYTES 256U
#define TYPE_STREAM 1U
#define OP_DATA 5U
#define RESETS 10U
#define REPORT 100U
#define PAUSE (PLATFORM_TIMEBASE_HZ / 5000U) /* all VCPUs sleep again before its end */

int main(unsigned long hart, const void *fdt);

struct packet {
    uint8_t odd;
    struct virtio_vsock_header header;
    uint8_t data[PACKET_BYTES];
} __attribute__((packed));

static struct pci_bus bus;
static struct virtio_device line, vsock;
/* copies for the other harts, while this one resets the console */
static struct virtio_device first_line, first_vsock;
static struct virtqueue line_in, line_out, vsock_in, vsock_out, vsock_events;
static uint8_t lines[ENTRIES][LINE_BYTES + 8U], text[LINE_BYTES + 8U];
static struct packet packets[ENTRIES], packet;
static unsigned long line_count, packet_count;
static struct random numbers; /* of the pauses */

/* --- interrupts, on each hart --- */

static void claim_all(unsigned long hart)
{
    uint32_t context = plic_context(hart);

    for (uint32_t source = plic_claim(context); source != 0; source = plic_claim(context)) {
        (void)virtio_isr(&first_line);
        (void)virtio_isr(&first_vsock);
        plic_complete(context, source);
    }
}

static void take_interrupts(unsigned long hart)
{
    plic_open(plic_context(hart), first_line.irq);
    plic_open(plic_context(hart), first_vsock.irq);
    csr_write_sie(SIE_EXTERNAL);
}

static void sleep_for_ever(unsigned long hart, void *argument)
{
    (void)argument;
    take_interrupts(hart);
    for (;;) {
        csr_wait_for_interrupt();
        claim_all(hart);
    }
}

static void start_harts(void)
{
    static uint8_t stacks[HARTS][1024] __attribute__((aligned(16)));
    static struct hart_boot boots[HARTS];

    for (unsigned long hart = 1; hart < HARTS; hart++) {
        boots[hart] = (struct hart_boot){stacks[hart] + sizeof(stacks[hart]), sleep_for_ever, NULL};
        (void)sbi_hart_start(hart, (uintptr_t)hart_entry, (uintptr_t)&boots[hart]);
    }
}

/* --- queues --- */

static void give_line(void)
{
    (void)virtqueue_add(&line_in,
                        &(struct virtqueue_part){lines[line_in.free] + 1, LINE_BYTES, true}, 1);
}

static void give_packet(void)
{
    struct packet *p = &packets[vsock_in.free];

    (void)virtqueue_add(&vsock_in,
                        &(struct virtqueue_part){(uint8_t *)p + 1, sizeof(*p) - 1U, true}, 1);
}

static void open_line(void)
{
    (void)virtio_open(&line, &bus, VIRTIO_CONSOLE, 0, 0);
    (void)virtio_add_queue(&line, 0, &line_in, ENTRIES);
    (void)virtio_add_queue(&line, 1, &line_out, ENTRIES);
    virtio_start(&line);
    while (line_in.unused != 0) {
        give_line();
    }
    virtqueue_interrupt(&line_in, true);
    virtqueue_notify(&line_in);
}

static void open_vsock(void)
{
    (void)virtio_open(&vsock, &bus, VIRTIO_VSOCK, 0, 0);
    (void)virtio_add_queue(&vsock, 0, &vsock_in, ENTRIES);
    (void)virtio_add_queue(&vsock, 1, &vsock_out, ENTRIES);
    (void)virtio_add_queue(&vsock, 2, &vsock_events, ENTRIES);
    virtio_start(&vsock);
    while (vsock_in.unused != 0) {
        give_packet();
    }
    virtqueue_interrupt(&vsock_in, true);
    virtqueue_notify(&vsock_in);
}

static unsigned long count(struct virtqueue *queue, void (*give)(void))
{
    unsigned long taken = 0;
    uint32_t bytes;

    while (virtqueue_take(queue, &bytes) >= 0) {
        taken++;
        if (give != NULL) {
            give();
        }
    }
    virtqueue_notify(queue);
    virtqueue_interrupt(queue, true);
    return taken;
}

/* --- the two roles --- */

static void sleep_and_count(void)
{
    unsigned long reported = 0;

    take_interrupts(0);
    for (;;) {
        csr_wait_for_interrupt();
        claim_all(0);
        line_count += count(&line_in, give_line);
        packet_count += count(&vsock_in, give_packet);
        if (line_count >= reported + REPORT && packet_count >= reported + REPORT) {
            reported += REPORT;
            print("virtio_wakes: %lu lines, %lu packets\n", reported, reported);
        }
    }
}

static void send(struct virtqueue *queue, void *data, uint32_t bytes)
{
    (void)count(queue, NULL);
    (void)virtqueue_add(queue, &(struct virtqueue_part){data, bytes, false}, 1);
    virtqueue_notify(queue);
    timer_sleep_until(machine_time() + PAUSE + random_below(&numbers, PAUSE));
}

static void send_both(void)
{
    uint32_t cid = virtio_config32(&vsock, 0);

    packet.header = (struct virtio_vsock_header){.source = {cid, 0},
                                                 .target = {cid + 1U, 0},
                                                 .source_port = 1,
                                                 .target_port = 2,
                                                 .bytes = PACKET_BYTES,
                                                 .type = TYPE_STREAM,
                                                 .op = OP_DATA};
    send(&line_out, text + 4, LINE_BYTES);
    send(&vsock_out, &packet.header, sizeof(packet) - 1U);
}

static void send_without_end(void)
{
    numbers = random_from(1);
    for (unsigned i = 0; i < RESETS; i++) {
        send_both();
        open_line();
    }
    print("virtio_wakes: resets done\n");
    for (;;) {
        send_both();
    }
}

int main(unsigned long hart, const void *fdt)
{
    char role[8] = "";

    (void)hart;
    uart_init();
    (void)timer_init();
    (void)fdt_bootarg(fdt, "role", role, sizeof(role));
    (void)pci_open(&bus, fdt);
    open_line();
    open_vsock();
    first_line = line;
    first_vsock = vsock;
    start_harts();
    print("virtio_wakes: %s\n", role);
    if (strcmp(role, "sleep") == 0) {
        sleep_and_count();
    } else {
        send_without_end();
    }
    return 0;
}
