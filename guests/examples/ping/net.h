/* SPDX-License-Identifier: Apache-2.0 */
/* ARP (RFC 826) and ICMP echo (RFC 792) over the shared Ethernet device: requests, and answers to
 * those of others. */
#ifndef NET_H
#define NET_H

#include <stdbool.h>
#include <stdint.h>

#include "shared_ethernet.h"

#define NET_BUFFERS 4U
#define NET_IP 4U

struct net {
    struct ethernet eth;
    uint8_t ip[NET_IP];
    uint8_t peer_mac[ETHERNET_ADDRESS], peer_ip[NET_IP];
    bool peer_known;   /* its MAC address */
    uint32_t answered; /* echo requests of others */
    uint8_t out[ETHERNET_FRAME];
    uint8_t in[NET_BUFFERS][ETHERNET_FRAME];
};

/** What a frame was. */
enum net_event {
    NET_NOTHING, /* no frame */
    NET_OTHER,   /* answered or ignored */
    NET_PEER,    /* the peer's MAC address */
    NET_ECHO,    /* the peer's answer to an echo request */
};

/** Opens the device; both addresses are set. SHARED_OK or SHARED_NO_DEVICE. */
int net_open(struct net *net, const void *fdt);

/** Asks for the peer's MAC address. An error of the device, or SHARED_OK. */
int net_ask(struct net *net);

/** Sends an echo request to the peer, whose MAC address is known. */
int net_ping(struct net *net, uint16_t sequence);

/** Handles the next frame. NET_ECHO: its sequence number is in *sequence. */
enum net_event net_poll(struct net *net, uint16_t *sequence);

#endif
