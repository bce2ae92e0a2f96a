/* SPDX-License-Identifier: Apache-2.0 */
/* Connects lwIP to a virtio network device (virtio_netif.h). Owns the device, the task that
 * receives, and the counters of frames. */
#include "virtio_netif.h"

#include "FreeRTOS.h"
#include "lwip/pbuf.h"
#include "machine.h"
#include "net.h"
#include "plic.h"
#include "task.h"
#include "virtio_net.h"

#define MTU (VIRTIO_NET_FRAME - VIRTIO_NET_SHORTEST)
#define STACK 1024U /* words */
#define PRIORITY 5U /* above lwIP's own task */

/* its send queue: guarded by lwIP's lock; its receive queue: of the task receive() */
static struct virtio_net net;
static uint32_t context; /* of the PLIC */
static TaskHandle_t receiver;
/* `received` by receive(), the others with lwIP's lock held */
static struct virtio_netif_counts counts;

static void interrupt(void)
{
    uint32_t source = plic_claim(context);
    BaseType_t woken = pdFALSE;

    if (source == 0) {
        return; /* the line went low before the claim */
    }
    /* before the task looks for frames: a later one interrupts again */
    (void)virtio_isr(&net.device);
    if (receiver != NULL) {
        vTaskNotifyGiveFromISR(receiver, &woken);
    }
    plic_complete(context, source);
    portYIELD_FROM_ISR(woken);
}

int virtio_netif_open(const void *fdt, unsigned long hart)
{
    static struct pci_bus bus;
    int result = pci_open(&bus, fdt) ? virtio_net_open(&net, &bus, 0) : VIRTIO_NO_DEVICE;

    if (result != VIRTIO_OK) {
        return result;
    }
    net_seed(net.mac);
    context = plic_context(hart);
    port_set_external_handler(interrupt);
    plic_open(context, net.device.irq);
    return VIRTIO_OK;
}

/* lwIP calls it with its lock held. */
static err_t send(struct netif *netif, struct pbuf *p)
{
    uint8_t *frame = virtio_net_buffer(&net);

    (void)netif;
    if (frame == NULL) {
        counts.dropped++;
        return ERR_MEM;
    }
    (void)pbuf_copy_partial(p, frame, VIRTIO_NET_FRAME, 0);
    if (virtio_net_submit(&net, p->tot_len) != VIRTIO_OK) {
        counts.dropped++;
        return ERR_BUF;
    }
    counts.sent++;
    return ERR_OK;
}

/* Gives a copy of the frame to lwIP. */
static void deliver(struct netif *netif, const uint8_t *frame, size_t bytes)
{
    struct pbuf *p = pbuf_alloc(PBUF_RAW, (u16_t)bytes, PBUF_POOL);

    counts.received++;
    if (p == NULL || pbuf_take(p, frame, (u16_t)bytes) != ERR_OK ||
        netif->input(p, netif) != ERR_OK) {
        counts.dropped++;
        if (p != NULL) {
            (void)pbuf_free(p);
        }
    }
}

static void receive(void *netif)
{
    for (;;) {
        size_t bytes;
        const uint8_t *frame = virtio_net_receive(&net, &bytes);

        if (frame != NULL) {
            deliver(netif, frame, bytes);
            continue;
        }
        if (net.receive.broken) {
            port_fatal("the network device has broken the protocol", "", 0);
        }
        virtqueue_interrupt(&net.receive, true);
        if (!virtqueue_used(&net.receive)) {
            (void)ulTaskNotifyTake(pdTRUE, portMAX_DELAY);
        }
        virtqueue_interrupt(&net.receive, false);
    }
}

err_t virtio_netif_init(struct netif *netif)
{
    net_set_interface(netif, net.mac, MTU, send);
    return xTaskCreate(receive, "virtio-net", STACK, netif, PRIORITY, &receiver) == pdPASS
               ? ERR_OK
               : ERR_MEM;
}

struct virtio_netif_counts virtio_netif_counts(void)
{
    return counts;
}
