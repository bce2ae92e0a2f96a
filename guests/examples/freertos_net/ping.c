/* SPDX-License-Identifier: Apache-2.0 */
/* Sends ICMP echo requests through lwIP and measures when the replies arrive (ping.h). Owns lwIP's
 * PCB and the state of the last request. */
#include "ping.h"

#include "lwip/icmp.h"
#include "lwip/inet_chksum.h"
#include "lwip/prot/ip4.h"
#include "lwip/raw.h"
#include "lwip/tcpip.h"
#include "machine.h"
#include "task.h"

#define ID 0x5453U
#define DATA_BYTES 56U
#define BYTES (sizeof(struct icmp_echo_hdr) + DATA_BYTES)

static struct raw_pcb *pcb;
static ip_addr_t peer;
static TaskHandle_t waiting;

/* Of the last request; written with lwIP's lock held. */
static uint16_t awaited;
static uint64_t came;

/* Called by lwIP for each ICMP message, from the IP header on. 1: taken. */
static u8_t receive(void *argument, struct raw_pcb *of, struct pbuf *p, const ip_addr_t *from)
{
    struct icmp_echo_hdr header;
    u16_t at = ip_current_header_tot_len();

    (void)argument;
    (void)of;
    if (pbuf_copy_partial(p, &header, sizeof(header), at) != sizeof(header) ||
        header.type != ICMP_ER || header.id != lwip_htons(ID) ||
        header.seqno != lwip_htons(awaited) || !ip_addr_cmp(from, &peer)) {
        return 0;
    }
    if (came == 0) {
        came = machine_time();
        xTaskNotifyGive(waiting);
    }
    (void)pbuf_free(p);
    return 1;
}

bool ping_open(const ip4_addr_t *address)
{
    ip_addr_copy_from_ip4(peer, *address);
    waiting = xTaskGetCurrentTaskHandle();
    LOCK_TCPIP_CORE();
    pcb = raw_new(IP_PROTO_ICMP);
    if (pcb != NULL) {
        raw_recv(pcb, receive, NULL);
    }
    UNLOCK_TCPIP_CORE();
    return pcb != NULL;
}

static struct pbuf *make_request(uint16_t sequence)
{
    struct pbuf *p = pbuf_alloc(PBUF_IP, BYTES, PBUF_RAM);
    struct icmp_echo_hdr *header;

    if (p == NULL) {
        return NULL;
    }
    header = p->payload;
    *header = (struct icmp_echo_hdr){
        .type = ICMP_ECHO, .id = lwip_htons(ID), .seqno = lwip_htons(sequence)};
    for (unsigned int i = 0; i < DATA_BYTES; i++) {
        ((uint8_t *)(header + 1))[i] = (uint8_t)i;
    }
    header->chksum = inet_chksum(header, BYTES);
    return p;
}

uint64_t ping_once(uint16_t sequence, TickType_t end)
{
    struct pbuf *p = make_request(sequence);
    TickType_t now = xTaskGetTickCount();
    TickType_t left = end > now ? end - now : 0;
    uint64_t sent;

    if (p == NULL) {
        return 0;
    }
    (void)ulTaskNotifyTake(pdTRUE, 0); /* of an answer that came after its end */
    LOCK_TCPIP_CORE();
    awaited = sequence;
    came = 0;
    sent = machine_time();
    (void)raw_sendto(pcb, p, &peer);
    UNLOCK_TCPIP_CORE();
    (void)pbuf_free(p);
    return ulTaskNotifyTake(pdTRUE, left) != 0 ? came - sent : 0;
}
