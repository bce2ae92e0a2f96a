/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FreeRTOS with the TCP/IP stack lwIP on a virtual network: a web server (port 80) whose page shows
 * the uptime and the counters of the interface, the echo services of lwIP's examples (port 7, UDP
 * and TCP), and a server of iperf 2 (port 5001). Answers pings.
 *
 * Boot argument:
 *   ip=a.b.c.d    own address (netmask 255.255.255.0)
 */
#include "FreeRTOS.h"
#include "lwip/apps/lwiperf.h"
#include "lwip/init.h"
#include "lwip/tcpip.h"
#include "net.h"
#include "print.h"
#include "say.h"
#include "task.h"
#include "timer.h"
#include "uart.h"
#include "virtio.h"
#include "virtio_netif.h"
#include "web.h"

#define STACK 1024U /* words */
#define PRIORITY 3U

int main(unsigned long hart, const void *fdt);

static ip4_addr_t address; /* constant once the scheduler runs */

static void serve_iperf(void)
{
    LOCK_TCPIP_CORE();
    if (lwiperf_start_tcp_server_default(NULL, NULL) == NULL) {
        port_fatal("the server of iperf: out of memory", "", 0);
    }
    UNLOCK_TCPIP_CORE();
}

static void serve(void *argument)
{
    (void)argument;
    net_start(&address, virtio_netif_init);
    serve_iperf();
    say("web: http://%u.%u.%u.%u/\n", (unsigned int)ip4_addr1(&address),
        (unsigned int)ip4_addr2(&address), (unsigned int)ip4_addr3(&address),
        (unsigned int)ip4_addr4(&address));
    web_serve();
}

int main(unsigned long hart, const void *fdt)
{
    uart_init();
    (void)timer_init();
    port_init();
    if (!net_read_address(fdt, "ip", &address)) {
        port_fatal("boot arguments: expected ip= with an address such as 192.168.80.3", "", 0);
    }
    if (virtio_netif_open(fdt, hart) != VIRTIO_OK) {
        port_fatal("the VM has no virtual network", "", 0);
    }
    if (xTaskCreate(serve, "web", STACK, NULL, PRIORITY, NULL) != pdPASS) {
        port_fatal("cannot create task", "web", 0);
    }
    print("web: FreeRTOS %s, lwIP %s\n", tskKERNEL_VERSION_NUMBER, LWIP_VERSION_STRING);
    vTaskStartScheduler();
    port_fatal("the scheduler did not start: heap too small?", "",
               (unsigned long)xPortGetFreeHeapSize());
}
