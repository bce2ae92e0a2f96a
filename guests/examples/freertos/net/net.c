/* SPDX-License-Identifier: Apache-2.0 */
/* Starts lwIP with one interface and the echo services, and gives lwIP its random numbers (net.h).
 * Owns the generator of these numbers. */
#include "net.h"

#include <string.h>

#include "FreeRTOS.h"
#include "fdt.h"
#include "lwip/etharp.h"
#include "lwip/tcpip.h"
#include "machine.h"
#include "random.h"
#include "tcpecho_raw.h"
#include "udpecho_raw.h"

#define ADDRESS_TEXT 16U

static struct random numbers; /* guarded by lwIP's lock once it runs */

void net_seed(const uint8_t *mac)
{
    uint64_t address = 0;

    memcpy(&address, mac, NET_ADDRESS);
    numbers = random_from(address ^ machine_time() << 24);
}

uint32_t net_random(void)
{
    return (uint32_t)(random_next(&numbers) >> 32);
}

bool net_read_address(const void *fdt, const char *key, ip4_addr_t *address)
{
    char text[ADDRESS_TEXT];

    return fdt_bootarg(fdt, key, text, sizeof(text)) != NULL && ip4addr_aton(text, address) != 0;
}

void net_start(const ip4_addr_t *ip, netif_init_fn interface)
{
    static struct netif netif;
    ip4_addr_t mask;

    IP4_ADDR(&mask, 255, 255, 255, 0);
    tcpip_init(NULL, NULL);
    LOCK_TCPIP_CORE();
    if (netif_add(&netif, ip, &mask, IP4_ADDR_ANY4, NULL, interface, tcpip_input) == NULL) {
        port_fatal("the interface: out of memory", "", 0);
    }
    netif_set_default(&netif);
    netif_set_up(&netif);
    udpecho_raw_init();
    tcpecho_raw_init();
    UNLOCK_TCPIP_CORE();
}

void net_set_interface(struct netif *netif, const uint8_t *mac, u16_t mtu, netif_linkoutput_fn send)
{
    netif->name[0] = 'e';
    netif->name[1] = 'n';
    netif->hwaddr_len = NET_ADDRESS;
    memcpy(netif->hwaddr, mac, NET_ADDRESS);
    netif->mtu = mtu;
    netif->flags =
        NETIF_FLAG_BROADCAST | NETIF_FLAG_ETHARP | NETIF_FLAG_ETHERNET | NETIF_FLAG_LINK_UP;
    netif->output = etharp_output;
    netif->linkoutput = send;
}
