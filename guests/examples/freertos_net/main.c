/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FreeRTOS with the TCP/IP stack lwIP on the shared Ethernet device. Pings a peer and prints the
 * round trips; answers the pings of others and has the echo services of lwIP's examples (port 7,
 * UDP and TCP).
 *
 * Boot arguments:
 *   ip=a.b.c.d    own address (netmask 255.255.255.0)
 *   peer=a.b.c.d  the peer's address
 *   period=n      us from one ping to the next, rounded to ms (default 100000)
 *   count=n       pings before the VM ends, 0: never (default)
 *   talk=n        also sends n bytes to the peer's TCP echo service each period, 0: does not
 * (default)
 */
#include "FreeRTOS.h"
#include "ethernet_netif.h"
#include "fdt.h"
#include "lwip/init.h"
#include "lwip/stats.h"
#include "machine.h"
#include "net.h"
#include "ping.h"
#include "platform.h"
#include "print.h"
#include "say.h"
#include "shared.h"
#include "talk.h"
#include "task.h"
#include "timer.h"
#include "uart.h"

#define STACK 1024U /* words */
#define PRIORITY 3U
#define TICKS_US (PLATFORM_TIMEBASE_HZ / 1000000U)

int main(unsigned long hart, const void *fdt);

static struct {
    ip4_addr_t ip, peer;
    uint32_t period_ms;
    unsigned long count;
    uint32_t talk;
} setup; /* boot arguments; constant once the scheduler runs */

static void ping(uint16_t sequence, TickType_t end)
{
    uint64_t ticks = ping_once(sequence, end);

    if (ticks != 0) {
        say("ping: %u: %lu.%lu us; answered %u\n", sequence, (unsigned long)(ticks / TICKS_US),
            (unsigned long)(ticks % TICKS_US), lwip_stats.mib2.icmpoutechoreps);
    } else {
        say("ping: %u: no answer\n", sequence);
    }
}

static void ping_task(void *argument)
{
    TickType_t period = pdMS_TO_TICKS(setup.period_ms), wake;

    (void)argument;
    net_start(&setup.ip, ethernet_netif_init);
    if (!ping_open(&setup.peer)) {
        port_fatal("the raw connection: out of memory", "", 0);
    }
    if (setup.talk != 0) {
        talk_start(&setup.peer, setup.period_ms, setup.talk);
    }
    wake = xTaskGetTickCount();
    for (unsigned long i = 1; setup.count == 0 || i <= setup.count; i++) {
        ping((uint16_t)i, wake + period);
        (void)xTaskDelayUntil(&wake, period);
    }
    say("ping: done, %lu frames lost before the wire\n", ethernet_netif_lost());
    machine_shutdown(false);
}

static void read_setup(const void *fdt)
{
    if (!net_read_address(fdt, "ip", &setup.ip) || !net_read_address(fdt, "peer", &setup.peer)) {
        port_fatal("boot arguments: expected ip= and peer= with an address such as 192.168.76.2",
                   "", 0);
    }
    setup.period_ms = (uint32_t)((fdt_bootarg_number(fdt, "period", 100000) + 500U) / 1000U);
    setup.count = fdt_bootarg_number(fdt, "count", 0);
    setup.talk = (uint32_t)fdt_bootarg_number(fdt, "talk", 0);
    if (setup.period_ms == 0) {
        port_fatal("boot arguments: expected a period from 500 us, got less", "", 0);
    }
}

int main(unsigned long hart, const void *fdt)
{
    uart_init();
    (void)timer_init();
    port_init();
    read_setup(fdt);
    if (ethernet_netif_open(fdt, hart) != SHARED_OK) {
        port_fatal("the VM has no shared Ethernet device", "", 0);
    }
    if (xTaskCreate(ping_task, "ping", STACK, NULL, PRIORITY, NULL) != pdPASS) {
        port_fatal("cannot create task", "ping", 0);
    }
    print("ping: FreeRTOS %s, lwIP %s\n", tskKERNEL_VERSION_NUMBER, LWIP_VERSION_STRING);
    vTaskStartScheduler();
    port_fatal("the scheduler did not start: heap too small?", "",
               (unsigned long)xPortGetFreeHeapSize());
}
