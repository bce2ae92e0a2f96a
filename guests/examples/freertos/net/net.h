/* SPDX-License-Identifier: Apache-2.0 */
/* What guests with lwIP have in common, whatever device their interface uses. */
#ifndef NET_H
#define NET_H

#include <stdbool.h>
#include <stdint.h>

#include "lwip/ip4_addr.h"
#include "lwip/netif.h"

#define NET_ADDRESS 6U /* bytes of a MAC address */

/** Boot argument `key`: an IPv4 address. False: there is none. */
bool net_read_address(const void *fdt, const char *key, ip4_addr_t *address);

/** Seeds the port numbers and initial sequence numbers, from the device's address and the time.
 * Before net_start(). */
void net_seed(const uint8_t *mac);

/** Starts lwIP with one interface, whose netmask is 255.255.255.0, and the echo services on port 7.
 * Call from a task. */
void net_start(const ip4_addr_t *ip, netif_init_fn interface);

/** Sets the fields of an Ethernet interface; `send` is called with lwIP's lock held. */
void net_set_interface(struct netif *netif, const uint8_t *mac, u16_t mtu,
                       netif_linkoutput_fn send);

#endif
