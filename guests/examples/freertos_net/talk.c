/* SPDX-License-Identifier: Apache-2.0 */
/* The task that tests TCP with an echo service (talk.h). Owns its parameters and the data that it
 * sends. */
#include "talk.h"

#include "FreeRTOS.h"
#include "lwip/api.h"
#include "say.h"
#include "task.h"

#define ECHO_PORT 7U
#define MOST 4096U
#define STACK 1024U /* words */
#define PRIORITY 2U

static struct {
    ip_addr_t peer;
    TickType_t period;
    uint32_t bytes;
} setup;
static uint8_t text[MOST];

/* Compares what comes back, until all has come. */
static err_t compare(struct netconn *to)
{
    u16_t length;

    for (uint32_t at = 0; at < setup.bytes; at += length) {
        struct pbuf *p;
        err_t wrong = netconn_recv_tcp_pbuf(to, &p);
        u16_t same;

        if (wrong != ERR_OK) {
            return wrong;
        }
        length = p->tot_len;
        same = length <= setup.bytes - at ? pbuf_memcmp(p, 0, text + at, length) : 1;
        (void)pbuf_free(p);
        if (same != 0) {
            return ERR_VAL;
        }
    }
    return ERR_OK;
}

static err_t talk(struct netconn *to)
{
    err_t wrong = netconn_connect(to, &setup.peer, ECHO_PORT);

    if (wrong == ERR_OK) {
        wrong = netconn_write(to, text, setup.bytes, NETCONN_NOCOPY);
    }
    return wrong == ERR_OK ? compare(to) : wrong;
}

static void task(void *argument)
{
    TickType_t wake = xTaskGetTickCount();

    (void)argument;
    for (uint32_t i = 0; i < setup.bytes; i++) {
        text[i] = (uint8_t)(i * i >> 3);
    }
    for (unsigned int n = 1;; n++) {
        struct netconn *to = netconn_new(NETCONN_TCP);
        err_t wrong = to != NULL ? talk(to) : ERR_MEM;

        if (to != NULL) {
            (void)netconn_delete(to);
        }
        if (wrong == ERR_OK) {
            say("talk: %u: %u bytes came back\n", n, setup.bytes);
        } else {
            say("talk: %u: FAILED: error %d of lwIP\n", n, wrong);
        }
        (void)xTaskDelayUntil(&wake, setup.period);
    }
}

void talk_start(const ip4_addr_t *peer, uint32_t period_ms, uint32_t bytes)
{
    ip_addr_copy_from_ip4(setup.peer, *peer);
    setup.period = pdMS_TO_TICKS(period_ms);
    setup.bytes = bytes < MOST ? bytes : MOST;
    if (xTaskCreate(task, "talk", STACK, NULL, PRIORITY, NULL) != pdPASS) {
        port_fatal("cannot create task", "talk", 0);
    }
}
