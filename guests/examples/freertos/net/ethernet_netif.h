/* SPDX-License-Identifier: Apache-2.0 */
/* lwIP's network interface on the shared Ethernet device of the VM (shared_ethernet.h). */
#ifndef ETHERNET_NETIF_H
#define ETHERNET_NETIF_H

#include "lwip/err.h"
#include "lwip/netif.h"

/**
 * Opens the device; its interrupts go to `hart`. SHARED_OK or SHARED_NO_DEVICE. Call before the
 * scheduler starts: it sets the port's handler of external interrupts.
 */
int ethernet_netif_open(const void *fdt, unsigned long hart);

/** For netif_add(), whose last argument is tcpip_input. Once, after ethernet_netif_open(). */
err_t ethernet_netif_init(struct netif *netif);

/** Frames that lwIP sent while all buffers were waiting for the wire: lost. */
unsigned long ethernet_netif_lost(void);

#endif
