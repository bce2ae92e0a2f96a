/* SPDX-License-Identifier: Apache-2.0 */
/* lwIP's network interface on the first virtio network device of the VM (virtio_net.h). */
#ifndef VIRTIO_NETIF_H
#define VIRTIO_NETIF_H

#include "lwip/err.h"
#include "lwip/netif.h"

/** Frames since the start. */
struct virtio_netif_counts {
    unsigned long received, sent;
    /* received without a free buffer of lwIP, or sent while all of the driver's were in use */
    unsigned long dropped;
};

/**
 * Opens the device; its interrupts go to `hart`. VIRTIO_OK, VIRTIO_NO_DEVICE, VIRTIO_BROKEN. Call
 * before the scheduler starts: it sets the port's handler of external interrupts.
 */
int virtio_netif_open(const void *fdt, unsigned long hart);

/** For net_start(). Once, after virtio_netif_open(). */
err_t virtio_netif_init(struct netif *netif);

struct virtio_netif_counts virtio_netif_counts(void);

#endif
