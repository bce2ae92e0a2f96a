/* SPDX-License-Identifier: Apache-2.0 */
/* Sends and answers ARP requests and ICMP echo requests on the shared Ethernet device (net.h). The
 * caller owns struct net. */
#include "net.h"

#include <string.h>

#define TYPE 12U /* offsets in a frame */
#define ARP ETHERNET_HEADER
#define IP ETHERNET_HEADER
#define IP_BYTES 20U
#define ICMP (IP + IP_BYTES)
#define ARP_OPERATION (ARP + 6U)
#define ARP_SENDER (ARP + 8U) /* MAC, IP; then those of the target */
#define ARP_TARGET (ARP + 18U)
#define ARP_END (ARP + 28U)
#define IP_LENGTH (IP + 2U)
#define IP_LIFE (IP + 8U)
#define IP_PROTOCOL (IP + 9U)
#define IP_CHECKSUM (IP + 10U)
#define IP_SOURCE (IP + 12U)
#define IP_DESTINATION (IP + 16U)
#define ICMP_CHECKSUM (ICMP + 2U)
#define ICMP_SEQUENCE (ICMP + 6U)
#define ICMP_DATA (ICMP + 8U)

#define TYPE_IP 0x0800U
#define TYPE_ARP 0x0806U
#define ARP_REQUEST 1U
#define ARP_REPLY 2U
#define PROTOCOL_ICMP 1U
#define ECHO_REPLY 0U
#define ECHO_REQUEST 8U
#define DATA_BYTES 56U
#define LIFE 64U

static const uint8_t arp_head[] = {0, 1, 8, 0, 6, 4}; /* Ethernet and IPv4 */
static const uint8_t ip_head[] = {0x45, 0};           /* version 4, 20 bytes */

static uint16_t word(const uint8_t *frame, unsigned int at)
{
    return (uint16_t)(frame[at] << 8 | frame[at + 1U]);
}

static void put(uint8_t *frame, unsigned int at, unsigned int value)
{
    frame[at] = (uint8_t)(value >> 8);
    frame[at + 1U] = (uint8_t)value;
}

/* RFC 1071; a byte at the end counts as if a 0 followed. */
static uint16_t checksum(const uint8_t *frame, unsigned int begin, unsigned int end)
{
    uint32_t sum = 0;

    for (unsigned int at = begin; at < end; at += 2) {
        sum += at + 1U < end ? word(frame, at) : (uint32_t)frame[at] << 8;
    }
    while (sum > 0xffffU) {
        sum = (sum & 0xffffU) + (sum >> 16);
    }
    return (uint16_t)~sum;
}

static bool same(const uint8_t *a, const uint8_t *b, size_t bytes)
{
    return memcmp(a, b, bytes) == 0;
}

static int post(struct net *net, uint8_t buffer)
{
    return ethernet_post(&net->eth, net->in[buffer], ETHERNET_FRAME, buffer);
}

int net_open(struct net *net, const void *fdt)
{
    int wrong = ethernet_open(&net->eth, fdt);

    for (uint8_t i = 0; i < NET_BUFFERS && i < net->eth.receive.depth && wrong == SHARED_OK; i++) {
        wrong = post(net, i);
    }
    return wrong;
}

static void make_header(struct net *net, const uint8_t *to, unsigned int type)
{
    memcpy(net->out, to, ETHERNET_ADDRESS);
    memcpy(net->out + ETHERNET_ADDRESS, net->eth.mac, ETHERNET_ADDRESS);
    put(net->out, TYPE, type);
}

/* `target`: MAC and IP address. */
static int send_arp(struct net *net, const uint8_t *to, unsigned int operation,
                    const uint8_t *target)
{
    make_header(net, to, TYPE_ARP);
    memcpy(net->out + ARP, arp_head, sizeof(arp_head));
    put(net->out, ARP_OPERATION, operation);
    memcpy(net->out + ARP_SENDER, net->eth.mac, ETHERNET_ADDRESS);
    memcpy(net->out + ARP_SENDER + ETHERNET_ADDRESS, net->ip, NET_IP);
    memcpy(net->out + ARP_TARGET, target, ETHERNET_ADDRESS + NET_IP);
    return ethernet_send(&net->eth, net->out, ARP_END);
}

int net_ask(struct net *net)
{
    static const uint8_t all[ETHERNET_ADDRESS] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    uint8_t target[ETHERNET_ADDRESS + NET_IP] = {0};

    memcpy(target + ETHERNET_ADDRESS, net->peer_ip, NET_IP);
    return send_arp(net, all, ARP_REQUEST, target);
}

/* Completes an IP packet with an ICMP message whose data begin at ICMP_DATA and have `data` bytes,
 * and sends it. */
static int send_icmp(struct net *net, const uint8_t *ip, unsigned int type, unsigned int data)
{
    unsigned int end = ICMP_DATA + data;

    memset(net->out + IP, 0, IP_BYTES);
    memcpy(net->out + IP, ip_head, sizeof(ip_head));
    put(net->out, IP_LENGTH, end - IP);
    net->out[IP_LIFE] = LIFE;
    net->out[IP_PROTOCOL] = PROTOCOL_ICMP;
    memcpy(net->out + IP_SOURCE, net->ip, NET_IP);
    memcpy(net->out + IP_DESTINATION, ip, NET_IP);
    put(net->out, IP_CHECKSUM, checksum(net->out, IP, ICMP));
    put(net->out, ICMP, type << 8);
    put(net->out, ICMP_CHECKSUM, 0);
    put(net->out, ICMP_CHECKSUM, checksum(net->out, ICMP, end));
    return ethernet_send(&net->eth, net->out, end);
}

int net_ping(struct net *net, uint16_t sequence)
{
    make_header(net, net->peer_mac, TYPE_IP);
    put(net->out, ICMP + 4U, 0); /* identifier */
    put(net->out, ICMP_SEQUENCE, sequence);
    for (unsigned int i = 0; i < DATA_BYTES; i++) {
        net->out[ICMP_DATA + i] = (uint8_t)i;
    }
    return send_icmp(net, net->peer_ip, ECHO_REQUEST, DATA_BYTES);
}

/* Answers requests for the own address; takes the peer's address from its packets. */
static enum net_event handle_arp(struct net *net, const uint8_t *in, unsigned int bytes)
{
    const uint8_t *sender = in + ARP_SENDER;

    if (bytes < ARP_END || !same(in + ARP, arp_head, sizeof(arp_head)) ||
        !same(in + ARP_TARGET + ETHERNET_ADDRESS, net->ip, NET_IP)) {
        return NET_OTHER;
    }
    if (word(in, ARP_OPERATION) == ARP_REQUEST) {
        (void)send_arp(net, sender, ARP_REPLY, sender);
    }
    if (!same(sender + ETHERNET_ADDRESS, net->peer_ip, NET_IP)) {
        return NET_OTHER;
    }
    memcpy(net->peer_mac, sender, ETHERNET_ADDRESS);
    net->peer_known = true;
    return NET_PEER;
}

/* The end of an ICMP message to this VM, 0 for anything else. */
static unsigned int end_of_icmp(const struct net *net, const uint8_t *in, unsigned int bytes)
{
    unsigned int end = IP + (unsigned int)word(in, IP_LENGTH);

    if (bytes < ICMP_DATA || !same(in + IP, ip_head, 1) || in[IP_PROTOCOL] != PROTOCOL_ICMP ||
        end < ICMP_DATA || end > bytes) {
        return 0;
    }
    return same(in + IP_DESTINATION, net->ip, NET_IP) && checksum(in, ICMP, end) == 0 ? end : 0;
}

static enum net_event handle_ip(struct net *net, const uint8_t *in, unsigned int bytes,
                                uint16_t *sequence)
{
    unsigned int end = end_of_icmp(net, in, bytes);

    if (end == 0) {
        return NET_OTHER;
    }
    if (in[ICMP] == ECHO_REPLY && same(in + IP_SOURCE, net->peer_ip, NET_IP)) {
        *sequence = word(in, ICMP_SEQUENCE);
        return NET_ECHO;
    }
    if (in[ICMP] == ECHO_REQUEST) {
        make_header(net, in + ETHERNET_ADDRESS, TYPE_IP);
        memcpy(net->out + ICMP, in + ICMP, end - ICMP);
        (void)send_icmp(net, in + IP_SOURCE, ECHO_REPLY, end - ICMP_DATA);
        net->answered++;
    }
    return NET_OTHER;
}

enum net_event net_poll(struct net *net, uint16_t *sequence)
{
    struct shared_completion done;
    enum net_event event = NET_OTHER;
    const uint8_t *in;

    if (!shared_take(&net->eth.receive, &done)) {
        return NET_NOTHING;
    }
    in = net->in[done.tag];
    if (done.status == SHARED_OK && word(in, TYPE) == TYPE_ARP) {
        event = handle_arp(net, in, done.bytes);
    } else if (done.status == SHARED_OK && word(in, TYPE) == TYPE_IP) {
        event = handle_ip(net, in, done.bytes, sequence);
    }
    (void)post(net, done.tag);
    return event;
}
