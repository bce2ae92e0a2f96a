/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cost of hypercalls and messages on the M5150, for a simulator that counts instructions between
 * markers (docs/iasim.md). Two VMs, roles send and receive. Markers, with n from 0 to 4 for 20, 40,
 * 60, 80 and 100 bytes:
 *
 *   1 to 2             HCALL_INFO_GET_ID
 *   10 + n to 20 + n   HCALL_IPC_SEND_MSG to a VM that is ready but not running
 *   30 + n to 40 + n   HCALL_IPC_RECV_MSG
 *   50 + n to 60 + n   from the call of a sender that then waits to the port of the waiting
 * receiver
 *
 * Each count includes the call instruction and one after it; the arguments are in their registers
 * before the first marker.
 */
#include <stdint.h>
#include <string.h>

#include "cp0.h"
#include "fdt.h"
#include "hcall.h"
#include "ipc.h"
#include "machine.h"
#include "print.h"
#include "uart.h"

#define COST_SAMPLES 64U
#define COST_SIZES 5U
#define COST_TASKS 2U
#define COST_PORTS 4U
#define COST_MESSAGE (1U << (8U + PLATFORM_MESSAGE_IRQ)) /* in Cause */

int main(unsigned long hart, const void *fdt);

/* Header of a message: its addressee in the receiving guest, in six bytes. */
struct cost_message {
    uint16_t task;
    uint16_t port;
    uint16_t length;
    uint16_t unused;
    uint8_t rest[IPC_MESSAGE_MAX - 8U];
};

typedef void (*cost_port_fn)(const struct cost_message *message);

static struct cost_message cost_out __attribute__((aligned(8)));
static struct cost_message cost_in __attribute__((aligned(8)));
static unsigned long cost_peer;
static unsigned int cost_arrived;

/*
 * A call between two markers. The second is in the delay slot of a branch-likely, so only on
 * success.
 */
#define COST_CALL(name, call, begin, end)                                                    \
    static long name(unsigned long arg0, unsigned long arg1, unsigned long arg2)             \
    {                                                                                        \
        register unsigned long v0 __asm__("$2") = (call);                                    \
        register unsigned long v1 __asm__("$3");                                             \
        register unsigned long a0 __asm__("$4") = arg0;                                      \
        register unsigned long a1 __asm__("$5") = arg1;                                      \
        register unsigned long a2 __asm__("$6") = arg2;                                      \
                                                                                             \
        __asm__ volatile(".set push\n\t.set virt\n\t.set noreorder\n\tsltiu $0, $0, " #begin \
                         "\n\thypcall\n\t"                                                   \
                         "beqzl $2, 1f\n\tsltiu $0, $0, " #end "\n1:\t.set pop"              \
                         : "+r"(v0), "=r"(v1)                                                \
                         : "r"(a0), "r"(a1), "r"(a2)                                         \
                         : "memory");                                                        \
        return v0 == 0 ? (long)(v1 & 0xffffU) : (long)v0;                                    \
    }

COST_CALL(cost_get_id, HCALL_INFO_GET_ID, 1, 2)
COST_CALL(cost_send_0, HCALL_IPC_SEND_MSG, 10, 20)
COST_CALL(cost_send_1, HCALL_IPC_SEND_MSG, 11, 21)
COST_CALL(cost_send_2, HCALL_IPC_SEND_MSG, 12, 22)
COST_CALL(cost_send_3, HCALL_IPC_SEND_MSG, 13, 23)
COST_CALL(cost_send_4, HCALL_IPC_SEND_MSG, 14, 24)
COST_CALL(cost_receive_0, HCALL_IPC_RECV_MSG, 30, 40)
COST_CALL(cost_receive_1, HCALL_IPC_RECV_MSG, 31, 41)
COST_CALL(cost_receive_2, HCALL_IPC_RECV_MSG, 32, 42)
COST_CALL(cost_receive_3, HCALL_IPC_RECV_MSG, 33, 43)
COST_CALL(cost_receive_4, HCALL_IPC_RECV_MSG, 34, 44)
COST_CALL(cost_deliver_0, HCALL_IPC_SEND_WAIT, 50, 70)
COST_CALL(cost_deliver_1, HCALL_IPC_SEND_WAIT, 51, 71)
COST_CALL(cost_deliver_2, HCALL_IPC_SEND_WAIT, 52, 72)
COST_CALL(cost_deliver_3, HCALL_IPC_SEND_WAIT, 53, 73)
COST_CALL(cost_deliver_4, HCALL_IPC_SEND_WAIT, 54, 74)

/* A port: marks the arrival of its message. */
#define COST_PORT(name, mark)                            \
    static void name(const struct cost_message *message) \
    {                                                    \
        MACHINE_MARK(mark);                              \
        cost_arrived += message->length;                 \
    }

COST_PORT(cost_port_0, 60)
COST_PORT(cost_port_1, 61)
COST_PORT(cost_port_2, 62)
COST_PORT(cost_port_3, 63)
COST_PORT(cost_port_4, 64)

typedef long (*cost_call_fn)(unsigned long arg0, unsigned long arg1, unsigned long arg2);

static const struct cost_size {
    unsigned int bytes;
    cost_call_fn send, receive, deliver;
    cost_port_fn port;
} cost_sizes[COST_SIZES] = {
    {20, cost_send_0, cost_receive_0, cost_deliver_0, cost_port_0},
    {40, cost_send_1, cost_receive_1, cost_deliver_1, cost_port_1},
    {60, cost_send_2, cost_receive_2, cost_deliver_2, cost_port_2},
    {80, cost_send_3, cost_receive_3, cost_deliver_3, cost_port_3},
    {100, cost_send_4, cost_receive_4, cost_deliver_4, cost_port_4},
};

static cost_port_fn cost_ports[COST_TASKS][COST_PORTS];

static void cost_expect(const char *what, long got, long expected)
{
    if (got != expected) {
        print("BENCH failed: %s: %ld, not %ld\n", what, got, expected);
        machine_shutdown(true);
    }
}

static void cost_make(unsigned int bytes)
{
    cost_out.task = 1;
    cost_out.port = 3;
    cost_out.length = (uint16_t)bytes;
    memset(cost_out.rest, (int)bytes, sizeof(cost_out.rest));
}

static void cost_check(unsigned int bytes, long size)
{
    cost_expect("size", size, (long)bytes);
    cost_expect("length", cost_in.length, (long)bytes);
    cost_expect("last byte", cost_in.rest[bytes - 9U], (long)bytes);
}

/* Waits for a message; the guest itself must clear the interrupt. */
static void cost_wait(void)
{
    cp0_wait();
    cp0_write_cause(cp0_read_cause() & ~COST_MESSAGE);
}

static long cost_await(cost_call_fn receive)
{
    long size = receive(hcall_address(&cost_in), sizeof(cost_in), 0);

    while (size == IPC_ERR_NOT_NOW) {
        cost_wait();
        size = receive(hcall_address(&cost_in), sizeof(cost_in), 0);
    }
    return size;
}

/* --- the sender --- */

static void cost_send(const struct cost_size *s)
{
    long error;

    cost_make(s->bytes);
    for (unsigned int i = 0; i < COST_SAMPLES; i++) {
        do {
            error = s->send(cost_peer, hcall_address(&cost_out), s->bytes);
            /* until the receiver has run */
        } while (error == IPC_ERR_NOT_NOW || error == IPC_ERR_NOT_RUNNING);
        cost_expect("send", error, 0);
    }
    (void)cost_await(cost_receive_0); /* the receiver has received all and waits */
    for (unsigned int i = 0; i < COST_SAMPLES; i++) {
        cp0_write_cause(cp0_read_cause() & ~COST_MESSAGE);
        error = s->deliver(cost_peer, hcall_address(&cost_out), s->bytes);
        cost_expect("deliver", error, 0);
        (void)cost_await(cost_receive_0);
    }
}

/* --- the receiver --- */

static void cost_tell(void)
{
    static const uint8_t go __attribute__((aligned(8))) = 1;

    cost_expect("tell", hcall_call(HCALL_IPC_SEND_MSG, cost_peer, hcall_address(&go), 1).error, 0);
}

static void cost_receive(const struct cost_size *s)
{
    long size;

    cost_ports[1][3] = s->port;
    for (unsigned int i = 0; i < COST_SAMPLES; i++) {
        do { /* polls, so that this VM is ready while it does not run */
            size = s->receive(hcall_address(&cost_in), sizeof(cost_in), 0);
        } while (size == IPC_ERR_NOT_NOW);
        cost_check(s->bytes, size);
    }
    cp0_write_cause(cp0_read_cause() & ~COST_MESSAGE);
    cost_tell();
    for (unsigned int i = 0; i < COST_SAMPLES; i++) {
        size = cost_await(s->receive);
        cost_ports[cost_in.task % COST_TASKS][cost_in.port % COST_PORTS](&cost_in);
        cost_check(s->bytes, size);
        cost_tell();
    }
    cost_expect("arrived", (long)cost_arrived, (long)(COST_SAMPLES * s->bytes));
    cost_arrived = 0;
}

int main(unsigned long hart, const void *fdt)
{
    char role[8] = "";

    (void)hart;
    uart_init();
    (void)fdt_bootarg(fdt, "role", role, sizeof(role));
    machine_wake_by_message(true);
    for (unsigned int i = 0; i < COST_SAMPLES; i++) {
        cost_expect("id", cost_get_id(0, 0, 0), strcmp(role, "send") == 0 ? 0 : 1);
    }
    cost_peer = strcmp(role, "send") == 0 ? 1 : 0;
    for (unsigned int n = 0; n < COST_SIZES; n++) {
        if (cost_peer == 1) {
            cost_send(&cost_sizes[n]);
        } else {
            cost_receive(&cost_sizes[n]);
        }
    }
    print("BENCH done\n");
    return 0;
}
