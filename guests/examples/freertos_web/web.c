/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP/1.0 (RFC 1945): one request for a connection, of which the first line is read. */
#include "web.h"

#include <stdbool.h>
#include <string.h>

#include "FreeRTOS.h"
#include "lwip/api.h"
#include "lwip/stats.h"
#include "print.h"
#include "task.h"
#include "virtio_netif.h"

#define HTTP_PORT 80U
#define WAIT_MS 5000 /* for a client that sends no request, or does not take the answer */
#define LINE 128U    /* characters of a request's first line that are looked at */
#define PAGE 1024U
#define HEAD 128U

static unsigned long served; /* requests */

/* The beginning of the request, up to its first line's end or as much as there is space for. False:
 * the client sent none. */
static bool read_line(struct netconn *client, char line[LINE])
{
    size_t used = 0;

    while (used < LINE - 1U) {
        struct pbuf *p;

        if (netconn_recv_tcp_pbuf(client, &p) != ERR_OK) {
            return false;
        }
        used += pbuf_copy_partial(p, line + used, (u16_t)(LINE - 1U - used), 0);
        (void)pbuf_free(p);
        for (size_t i = 0; i < used; i++) {
            if (line[i] == '\n') {
                line[i] = '\0';
                return true;
            }
        }
    }
    line[used] = '\0';
    return true;
}

static size_t write_page(char page[PAGE])
{
    struct virtio_netif_counts counts = virtio_netif_counts();
    unsigned long seconds = (unsigned long)(xTaskGetTickCount() / configTICK_RATE_HZ);

    return print_buffer(
        page, PAGE,
        "<!DOCTYPE html>\n<html lang=\"en\"><head><title>FreeRTOS in a VM</title></head><body>\n"
        "<h1>FreeRTOS in a VM</h1>\n<table>\n"
        "<tr><td>uptime</td><td>%lu s</td></tr>\n"
        "<tr><td>requests</td><td>%lu</td></tr>\n"
        "<tr><td>frames received</td><td>%lu</td></tr>\n"
        "<tr><td>frames sent</td><td>%lu</td></tr>\n"
        "<tr><td>frames dropped</td><td>%lu</td></tr>\n"
        "<tr><td>pings answered</td><td>%lu</td></tr>\n"
        "<tr><td>free heap</td><td>%lu bytes</td></tr>\n"
        "</table></body></html>\n",
        seconds, served, counts.received, counts.sent, counts.dropped,
        (unsigned long)lwip_stats.mib2.icmpoutechoreps, (unsigned long)xPortGetFreeHeapSize());
}

/* False: the client has not taken everything in time. */
static bool put(struct netconn *client, const char *text, size_t bytes)
{
    size_t written = 0;

    return netconn_write_partly(client, text, bytes, NETCONN_COPY, &written) == ERR_OK &&
           written == bytes;
}

static void reply(struct netconn *client, const char *status, const char *body, size_t bytes)
{
    char head[HEAD];
    size_t length = print_buffer(
        head, sizeof(head), "HTTP/1.0 %s\r\nContent-Type: text/html\r\nContent-Length: %lu\r\n\r\n",
        status, (unsigned long)bytes);

    if (put(client, head, length)) {
        (void)put(client, body, bytes);
    }
}

static void answer(struct netconn *client)
{
    char line[LINE], page[PAGE];

    netconn_set_recvtimeout(client, WAIT_MS);
    netconn_set_sendtimeout(client, WAIT_MS);
    if (!read_line(client, line)) {
        return;
    }
    served++;
    if (strncmp(line, "GET / ", 6) == 0) {
        reply(client, "200 OK", page, write_page(page));
    } else if (strncmp(line, "GET ", 4) == 0) {
        reply(client, "404 Not Found", "no such page\n", 13);
    } else {
        reply(client, "501 Not Implemented", "GET only\n", 9);
    }
}

_Noreturn void web_serve(void)
{
    struct netconn *server = netconn_new(NETCONN_TCP);

    if (server == NULL || netconn_bind(server, IP_ADDR_ANY, HTTP_PORT) != ERR_OK ||
        netconn_listen(server) != ERR_OK) {
        port_fatal("the web server: out of memory", "", 0);
    }
    for (;;) {
        struct netconn *client;

        if (netconn_accept(server, &client) == ERR_OK) {
            answer(client);
            (void)netconn_close(client);
            (void)netconn_delete(client);
        }
    }
}
