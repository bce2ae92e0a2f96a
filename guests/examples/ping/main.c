/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pings a peer through the shared Ethernet device and prints the round trips; answers the pings of
 * others. Words of the kernel's arguments: `ip=` the own address, `peer=` the peer's, `period=` us
 * from one ping to the next, `count=` pings before the VM ends; 0: never.
 */
#include <string.h>

#include "fdt.h"
#include "machine.h"
#include "net.h"
#include "print.h"
#include "timer.h"
#include "uart.h"

#define TICKS_US (PLATFORM_TIMEBASE_HZ / 1000000U)
#define ADDRESS_TEXT 16U

int main(unsigned long hart, const void *fdt);

static struct net net;

static void clear(void *argument)
{
    shared_clear_interrupt(argument);
}

/* Handles frames until one is `wanted`: the time at which it was there, or 0 at `end`. */
static uint64_t await(enum net_event wanted, uint16_t sequence, unsigned long hart, uint64_t end)
{
    timer_set(end);
    machine_wake_by_timer(true);
    while (machine_time() < end) {
        uint16_t found = 0;
        enum net_event event = net_poll(&net, &found);

        if (event == wanted && (event != NET_ECHO || found == sequence)) {
            return machine_time();
        }
        if (event == NET_NOTHING) {
            plic_wait(net.eth.receive.irq, hart, clear, &net.eth.receive);
        }
    }
    machine_wake_by_timer(false);
    return 0;
}

/* "192.168.76.2"; false: not four numbers up to 255. */
static bool parse(const void *fdt, const char *key, uint8_t ip[NET_IP])
{
    char text[ADDRESS_TEXT];
    const char *c = fdt_bootarg(fdt, key, text, sizeof(text));

    for (unsigned int i = 0; i < NET_IP && c != NULL; i++) {
        unsigned int value = 0;

        for (; *c >= '0' && *c <= '9'; c++) {
            value = value * 10U + (unsigned int)(*c - '0');
        }
        if (value > UINT8_MAX || *c != (i + 1U < NET_IP ? '.' : '\0')) {
            return false;
        }
        ip[i] = (uint8_t)value;
        c++;
    }
    return c != NULL;
}

static void ping(uint16_t sequence, unsigned long hart, uint64_t end)
{
    uint64_t sent = machine_time(), back;
    int wrong = net_ping(&net, sequence);

    if (wrong != SHARED_OK) {
        print("ping: FAILED: error %d\n", wrong);
    }
    back = await(NET_ECHO, sequence, hart, end);
    if (back != 0) {
        unsigned long ticks = (unsigned long)(back - sent);

        print("ping: %u: %lu.%lu us; answered %u\n", sequence, ticks / TICKS_US, ticks % TICKS_US,
              net.answered);
        while (await(NET_PEER, 0, hart, end) != 0) {
            /* answers others until the next ping */
        }
    } else {
        print("ping: %u: no answer\n", sequence);
    }
}

int main(unsigned long hart, const void *fdt)
{
    uint64_t period = fdt_bootarg_number(fdt, "period", 100000) * TICKS_US, end;
    unsigned long count = fdt_bootarg_number(fdt, "count", 0);

    uart_init();
    timer_init();
    if (!parse(fdt, "ip", net.ip) || !parse(fdt, "peer", net.peer_ip) ||
        net_open(&net, fdt) != SHARED_OK) {
        print("ping: FAILED: needs ip=, peer= and the shared Ethernet device\n");
        return 1;
    }
    shared_sleep_on(&net.eth.receive, hart);
    for (end = machine_time() + period; !net.peer_known; end += period) {
        (void)net_ask(&net);
        (void)await(NET_PEER, 0, hart, end);
    }
    print("ping: the peer has address %x:%x:%x:%x:%x:%x\n", net.peer_mac[0], net.peer_mac[1],
          net.peer_mac[2], net.peer_mac[3], net.peer_mac[4], net.peer_mac[5]);
    for (unsigned long i = 1; count == 0 || i <= count; i++, end += period) {
        ping((uint16_t)i, hart, end);
    }
    print("ping: done\n");
    return 0;
}
