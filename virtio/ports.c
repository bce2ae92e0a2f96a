/* SPDX-License-Identifier: Apache-2.0 */
/* The operator's list of the switch's ports. */
#include "console_keys.h"
#include "virtio.h"

static bool is_port(unsigned number)
{
    return virtio_devices[number].class == &virtio_net;
}

static void list_port(struct virtio_device *dev)
{
    struct virtio_net_counts c = virtio_net_count(dev);

    console_log("%-9s %u %12lu %12lu %9lu %9lu %9lu %9lu", dev->vm->config->name, dev->config->slot, (ulong)c.sent,
                (ulong)c.received, (ulong)c.spoofed, (ulong)c.limited, (ulong)c.no_buffer, (ulong)c.malformed);
}

/* Position 0 is the heading, n + 1 function n. */
static unsigned ports_line(unsigned at)
{
    unsigned next = at;

    if (at == 0) {
        console_log("port                sent     received   spoofed   limited no buffer malformed");
    } else {
        list_port(&virtio_devices[at - 1U]);
    }
    while (next < virtio_device_count && !is_port(next)) {
        next++;
    }
    return next < virtio_device_count ? next + 1U : 0;
}
CONSOLE_LIST('p', "list network ports", ports_line);
