/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two VMs exchange messages: the ping sends a message and waits for its return, the pong returns
 * each message. Every size from one byte to the maximum, with changing contents; sender and size
 * are checked. A lost, duplicated or changed message ends both guests as failed.
 *
 * Boot arguments:
 *   role=ping or role=pong   default: the first VM of the system is the ping
 *   peer=n                   id of the other VM (default: the other one of the first two)
 *   rounds=n                 rounds of all sizes (default 4)
 */
#include <stddef.h>
#include <string.h>

#include "fdt.h"
#include "hcall.h"
#include "ipc.h"
#include "machine.h"
#include "print.h"
#include "timer.h"
#include "uart.h"

#define PINGPONG_ROUNDS 4U
#define PINGPONG_MARK 5U /* first byte of the final message */

/* Markers for iasim's --span: 50 to 51 is send, 52 to 53 receive, 50 to 54 a round trip. */

int main(unsigned long hart, const void *fdt);

/* Owner: main(). */
static struct pingpong {
    struct ipc_peer peer;
    unsigned int messages;
    uint8_t out[IPC_MESSAGE_MAX] __attribute__((aligned(8)));
    uint8_t in[IPC_MESSAGE_MAX] __attribute__((aligned(8)));
} pingpong;

static _Noreturn void pingpong_fail(const char *what, long value)
{
    print("pingpong: FAILED: %s %ld after %u messages\n", what, value, pingpong.messages);
    machine_shutdown(true);
}

/* Retries while the other VM is not running yet or its queue is full. */
static void pingpong_send(const void *message, size_t size)
{
    long error;

    do {
        MACHINE_MARK(50);
        error = ipc_send(pingpong.peer, message, size);
        MACHINE_MARK(51);
        if (error == IPC_ERR_NOT_NOW || error == IPC_ERR_NOT_RUNNING) {
            timer_set(machine_time() + PLATFORM_TIMEBASE_HZ / 1000U);
            machine_wait();
        }
    } while (error == IPC_ERR_NOT_NOW || error == IPC_ERR_NOT_RUNNING);
    if (error != 0) {
        pingpong_fail("sending: error", error);
    }
}

/* Clears the interrupt before receiving, so that no message is missed. Returns the size. */
static size_t pingpong_receive(void)
{
    struct ipc_peer from = {0, 0};
    long size;

    for (;;) {
        machine_take_message();
        MACHINE_MARK(52);
        size = ipc_receive(pingpong.in, sizeof(pingpong.in), &from);
        MACHINE_MARK(53);
        if (size != IPC_ERR_NOT_NOW) {
            break;
        }
        machine_wait();
    }
    if (size < 0) {
        pingpong_fail("receiving: error", size);
    }
    if (from.vm != pingpong.peer.vm || from.vcpu != pingpong.peer.vcpu) {
        pingpong_fail("a message of VM", (long)from.vm);
    }
    pingpong.messages++;
    return (size_t)size;
}

static void pingpong_fill(size_t size, unsigned int round)
{
    for (size_t i = 0; i < size; i++) {
        pingpong.out[i] = (uint8_t)((i + 1U) * 37U + size + round * 101U);
    }
    pingpong.out[0] |= 0x80U;
}

static void pingpong_once(size_t size, unsigned int round)
{
    size_t back;

    pingpong_fill(size, round);
    pingpong_send(pingpong.out, size);
    back = pingpong_receive();
    MACHINE_MARK(54);
    if (back != size) {
        pingpong_fail("another size:", (long)back);
    }
    if (memcmp(pingpong.in, pingpong.out, size) != 0) {
        pingpong_fail("changed: a message of size", (long)size);
    }
}

static void pingpong_ping(unsigned int rounds)
{
    static const uint8_t end = PINGPONG_MARK;

    for (unsigned int round = 0; round < rounds; round++) {
        for (size_t size = 1; size <= IPC_MESSAGE_MAX; size++) {
            pingpong_once(size, round);
        }
    }
    pingpong_send(&end, sizeof(end));
}

static void pingpong_pong(void)
{
    for (;;) {
        size_t size = pingpong_receive();

        if (size == 1 && pingpong.in[0] == PINGPONG_MARK) {
            return;
        }
        pingpong_send(pingpong.in, size);
    }
}

int main(unsigned long hart, const void *fdt)
{
    struct hcall_ret id = hcall_get_id();
    char role[8] = "";
    bool ping;

    (void)hart;
    uart_init();
    (void)timer_init();
    if (id.error != HCALL_OK) {
        print("pingpong: expected to run in a Tessera VM with a peer (error %ld)\n", id.error);
        return 1;
    }
    (void)fdt_bootarg(fdt, "role", role, sizeof(role));
    ping = role[0] == '\0' ? id.value == 0 : strcmp(role, "ping") == 0;
    pingpong.peer.vm =
        (unsigned int)fdt_bootarg_number(fdt, "peer", 1U - ((unsigned int)id.value & 1U));
    machine_wake_by_timer(true);
    machine_wake_by_message(true);
    print("pingpong: VM %lu is the %s of VM %u\n", id.value, ping ? "ping" : "pong",
          pingpong.peer.vm);
    if (ping) {
        pingpong_ping((unsigned int)fdt_bootarg_number(fdt, "rounds", PINGPONG_ROUNDS));
    } else {
        pingpong_pong();
    }
    print("pingpong: %u messages, each as it was sent\n", pingpong.messages);
    return 0;
}
