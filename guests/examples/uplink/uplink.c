/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The uplink of a virtual network: the VM owns a network device of the machine (virtio on MMIO) and
 * passes frames between it and its port of the network (virtio on PCI), which has `uplink` in the
 * system file. Each second with traffic it prints its counters.
 */
#include "fdt.h"
#include "machine.h"
#include "plic.h"
#include "print.h"
#include "timer.h"
#include "uart.h"
#include "virtio_net.h"

#define BURST 32U /* frames in one direction before the other one has its turn */

int main(unsigned long hart, const void *fdt);

/* One direction. */
struct way {
    struct virtio_net *from, *to;
    unsigned long passed, dropped;
};

static struct virtio_net outside, inside;
static struct way in = {&outside, &inside, 0, 0}, out = {&inside, &outside, 0, 0};

/* Passes a burst. False: there was none. */
static bool pass(struct way *way)
{
    for (unsigned int i = 0; i < BURST; i++) {
        size_t bytes;
        const uint8_t *frame = virtio_net_receive(way->from, &bytes);

        if (frame == NULL) {
            return i != 0;
        }
        if (virtio_net_send(way->to, frame, bytes) == VIRTIO_OK) {
            way->passed++;
        } else {
            way->dropped++;
        }
    }
    return true;
}

static void clear(void *argument)
{
    (void)argument;
    (void)virtio_isr(&outside.device);
    (void)virtio_isr(&inside.device);
}

static void sleep_until_frame(unsigned long hart)
{
    virtqueue_interrupt(&outside.receive, true);
    virtqueue_interrupt(&inside.receive, true);
    if (!virtqueue_used(&outside.receive) && !virtqueue_used(&inside.receive)) {
        plic_wait(inside.device.irq, hart, clear, NULL);
    }
    virtqueue_interrupt(&outside.receive, false);
    virtqueue_interrupt(&inside.receive, false);
}

static void report(void)
{
    static unsigned long reported;
    static uint64_t next;
    unsigned long frames = in.passed + in.dropped + out.passed + out.dropped;

    if (frames != reported && machine_time() >= next) {
        reported = frames;
        next = machine_time() + PLATFORM_TIMEBASE_HZ;
        print("uplink: %lu frames in, %lu out, %lu dropped\n", in.passed, out.passed,
              in.dropped + out.dropped);
    }
}

static bool open_ports(const void *fdt)
{
    static struct pci_bus bus;
    int result = virtio_net_open_mmio(&outside, fdt);

    if (result != VIRTIO_OK) {
        print(
            "uplink: expected a network device of the machine (\"devices\" of the VM): error %d\n",
            result);
        return false;
    }
    result = pci_open(&bus, fdt) ? virtio_net_open(&inside, &bus, 0) : VIRTIO_NO_DEVICE;
    if (result != VIRTIO_OK) {
        print("uplink: expected a virtio-net on the VM's PCI bus: error %d\n", result);
        return false;
    }
    return true;
}

int main(unsigned long hart, const void *fdt)
{
    uart_init();
    (void)timer_init();
    if (!open_ports(fdt)) {
        return 1;
    }
    print("uplink: ready\n");
    plic_open(plic_context(hart), outside.device.irq);
    while (!outside.receive.broken && !inside.receive.broken) {
        bool any = pass(&in);

        any = pass(&out) || any;
        report();
        if (!any) {
            sleep_until_frame(hart);
        }
    }
    print("uplink: a device has broken the protocol\n");
    return 1;
}
