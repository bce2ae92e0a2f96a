/* SPDX-License-Identifier: Apache-2.0 */
/* Connects lwIP to the shared Ethernet device (ethernet_netif.h). Owns the device, its buffers in
 * both directions, and the task that receives. */
#include "ethernet_netif.h"

#include "FreeRTOS.h"
#include "lwip/pbuf.h"
#include "machine.h"
#include "net.h"
#include "plic.h"
#include "shared_ethernet.h"
#include "task.h"

#define MTU (ETHERNET_FRAME - ETHERNET_HEADER)
#define BUFFERS 8U  /* in each direction */
#define STACK 1024U /* words */
#define PRIORITY 5U /* above lwIP's own task */

_Static_assert(PBUF_POOL_BUFSIZE >= ETHERNET_FRAME, "the device writes a frame into one buffer");
_Static_assert(PBUF_POOL_SIZE > BUFFERS, "the device holds BUFFERS of them all the time");

static struct ethernet eth;
static uint32_t context; /* of the PLIC */
static TaskHandle_t receiver;

/* The buffers that the device has. */
static struct pbuf *receiving[BUFFERS];
static uint8_t sending[BUFFERS][ETHERNET_FRAME];
static uint32_t unused; /* of `sending`: a bit each */
static unsigned long lost;

static void interrupt(void)
{
    uint32_t source = plic_claim(context);
    BaseType_t woken = pdFALSE;

    if (source == 0) {
        return; /* the line went low before the claim */
    }
    /* before the task takes the frames: a later one interrupts again */
    shared_clear_interrupt(&eth.receive);
    vTaskNotifyGiveFromISR(receiver, &woken);
    plic_complete(context, source);
    portYIELD_FROM_ISR(woken);
}

int ethernet_netif_open(const void *fdt, unsigned long hart)
{
    int wrong = ethernet_open(&eth, fdt);

    if (wrong != SHARED_OK) {
        return wrong;
    }
    net_seed(eth.mac);
    context = plic_context(hart);
    port_set_external_handler(interrupt);
    plic_open(context, eth.receive.irq);
    return SHARED_OK;
}

static void reclaim(void)
{
    struct shared_completion done;

    while (shared_take(&eth.send, &done)) {
        unused |= 1U << done.tag;
    }
}

/* lwIP calls it with its lock held. */
static err_t send(struct netif *netif, struct pbuf *p)
{
    uint8_t buffer = 0;

    (void)netif;
    reclaim();
    while (buffer < BUFFERS && (unused >> buffer & 1U) == 0) {
        buffer++;
    }
    if (buffer == BUFFERS) {
        lost++;
        return ERR_MEM;
    }
    (void)pbuf_copy_partial(p, sending[buffer], ETHERNET_FRAME, 0);
    if (ethernet_submit(&eth, sending[buffer], p->tot_len, buffer) != SHARED_OK) {
        lost++;
        return ERR_BUF;
    }
    unused &= ~(1U << buffer);
    return ERR_OK;
}

static void post(uint8_t buffer)
{
    (void)ethernet_post(&eth, receiving[buffer]->payload, ETHERNET_FRAME, buffer);
}

/* Gives the frame to lwIP and a new buffer to the device. Without a free buffer the frame is lost,
 * and its buffer used again. */
static void take(struct netif *netif, const struct shared_completion *done)
{
    struct pbuf *frame = receiving[done->tag], *next = NULL;

    if (done->status == SHARED_OK) {
        next = pbuf_alloc(PBUF_RAW, ETHERNET_FRAME, PBUF_POOL);
    }
    if (next != NULL) {
        receiving[done->tag] = next;
    }
    post(done->tag);
    if (next == NULL) {
        return;
    }
    pbuf_realloc(frame, done->bytes);
    if (netif->input(frame, netif) != ERR_OK) {
        (void)pbuf_free(frame);
    }
}

static void receive(void *netif)
{
    struct shared_completion done;

    for (;;) {
        (void)ulTaskNotifyTake(pdTRUE, portMAX_DELAY);
        while (shared_take(&eth.receive, &done)) {
            take(netif, &done);
        }
    }
}

static err_t give_buffers(void)
{
    for (uint8_t i = 0; i < BUFFERS && i < eth.receive.depth; i++) {
        receiving[i] = pbuf_alloc(PBUF_RAW, ETHERNET_FRAME, PBUF_POOL);
        if (receiving[i] == NULL) {
            return ERR_MEM;
        }
        post(i);
    }
    return ERR_OK;
}

err_t ethernet_netif_init(struct netif *netif)
{
    net_set_interface(netif, eth.mac, MTU, send);
    unused = (1U << BUFFERS) - 1U;
    if (give_buffers() != ERR_OK ||
        xTaskCreate(receive, "ethernet", STACK, netif, PRIORITY, &receiver) != pdPASS) {
        return ERR_MEM;
    }
    shared_enable_interrupt(&eth.receive, true);
    return ERR_OK;
}

unsigned long ethernet_netif_lost(void)
{
    return lost;
}
