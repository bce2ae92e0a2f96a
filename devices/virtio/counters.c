/* SPDX-License-Identifier: Apache-2.0 */
/* The operator's list of the counters of NICs and consoles, one line a step. net.c and console.c
 * own the counters, and copy them under the queues' locks. */
#include "console_keys.h"
#include "virtio.h"

/* The first function of the kind from this number on, or virtio_device_count. */
static unsigned next_of(enum virtio_image_kind kind, unsigned number)
{
    while (number < virtio_device_count && virtio_devices[number].config->kind != kind) {
        number++;
    }
    return number;
}

static void list_nic(struct virtio_device *dev)
{
    struct virtio_net_counts c = virtio_net_count(dev);

    console_log("%-9s %u %12lu %12lu %9lu %9lu %9lu %9lu", dev->vm->config->name, dev->config->slot,
                (ulong)c.sent, (ulong)c.received, (ulong)c.spoofed, (ulong)c.limited,
                (ulong)c.no_buffer, (ulong)c.malformed);
}

static void list_console(struct virtio_device *dev)
{
    struct virtio_console_counts c = virtio_console_count(dev);

    console_log("%-9s %u %12lu %12lu", dev->vm->config->name, dev->config->slot, (ulong)c.sent,
                (ulong)c.dropped);
}

/* Position 0 is the heading of the consoles, n + 1 function n. */
static unsigned consoles_line(unsigned at)
{
    unsigned next = next_of(VIRTIO_IMAGE_CONSOLE, at);

    if (at == 0 && next < virtio_device_count) {
        console_log("console       bytes sent      dropped");
    } else if (at != 0) {
        list_console(&virtio_devices[at - 1U]);
    }
    return next < virtio_device_count ? next + 1U : 0;
}

/* Position 0 is the heading of the NICs, n + 1 function n; then those of the consoles. */
static unsigned counters_line(unsigned at)
{
    unsigned consoles = virtio_device_count + 1U, next = next_of(VIRTIO_IMAGE_NET, at);

    if (at >= consoles) {
        next = consoles_line(at - consoles);
        return next != 0 ? consoles + next : 0;
    }
    if (at == 0) {
        console_log(
            "NIC                 sent     received   spoofed   limited no buffer malformed");
    } else {
        list_nic(&virtio_devices[at - 1U]);
    }
    return next < virtio_device_count ? next + 1U : consoles;
}

const struct console_part counters_part = {
    .list = {'p', "list counters of NICs and consoles", counters_line},
};
