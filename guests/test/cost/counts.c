/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What hypercalls and messages cost on the M5150, for a simulator that counts from marker to marker (docs/iasim.md). Two VMs,
 * roles send and receive; markers, with n from 0 to 4 for 20, 40, 60, 80 and 100 bytes:
 *
 *   1 to 2             HCALL_INFO_GET_ID
 *   10 + n to 20 + n   HCALL_IPC_SEND_MSG to a VM that is ready, not running
 *   30 + n to 40 + n   HCALL_IPC_RECV_MSG
 *   50 + n to 60 + n   from the call of a sender that then waits to the waiting receiver's port
 *
 * The call's own instruction is counted, and one behind it; arguments are in their registers before.
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

#define COUNTS_SHOTS 64U
#define COUNTS_SIZES 5U
#define COUNTS_TASKS 2U
#define COUNTS_PORTS 4U
#define COUNTS_MESSAGE (1U << (8U + PLATFORM_MESSAGE_IRQ)) /* in Cause */

int main(unsigned long hart, const void *fdt);

/* Whom a message is for in the receiving guest, in six bytes. */
struct counts_message {
    uint16_t task;
    uint16_t port;
    uint16_t length;
    uint16_t unused;
    uint8_t rest[IPC_MESSAGE_MAX - 8U];
};

typedef void (*counts_port_fn)(const struct counts_message *message);

static struct counts_message counts_out __attribute__((aligned(8)));
static struct counts_message counts_in __attribute__((aligned(8)));
static unsigned long counts_peer;
static unsigned int counts_arrived;

/* A call between two markers, the second only if it succeeds: in the delay slot of a branch that is likely. */
#define COUNTS_CALL(name, call, begin, end)                                                                    \
    static long name(unsigned long arg0, unsigned long arg1, unsigned long arg2)                               \
    {                                                                                                          \
        register unsigned long v0 __asm__("$2") = (call);                                                      \
        register unsigned long v1 __asm__("$3");                                                               \
        register unsigned long a0 __asm__("$4") = arg0;                                                        \
        register unsigned long a1 __asm__("$5") = arg1;                                                        \
        register unsigned long a2 __asm__("$6") = arg2;                                                        \
                                                                                                               \
        __asm__ volatile(".set push\n\t.set virt\n\t.set noreorder\n\tsltiu $0, $0, " #begin "\n\thypcall\n\t" \
                         "beqzl $2, 1f\n\tsltiu $0, $0, " #end "\n1:\t.set pop"                                \
                         : "+r"(v0), "=r"(v1)                                                                  \
                         : "r"(a0), "r"(a1), "r"(a2)                                                           \
                         : "memory");                                                                          \
        return v0 == 0 ? (long)(v1 & 0xffffU) : (long)v0;                                                      \
    }

COUNTS_CALL(counts_get_id, HCALL_INFO_GET_ID, 1, 2)
COUNTS_CALL(counts_send_0, HCALL_IPC_SEND_MSG, 10, 20)
COUNTS_CALL(counts_send_1, HCALL_IPC_SEND_MSG, 11, 21)
COUNTS_CALL(counts_send_2, HCALL_IPC_SEND_MSG, 12, 22)
COUNTS_CALL(counts_send_3, HCALL_IPC_SEND_MSG, 13, 23)
COUNTS_CALL(counts_send_4, HCALL_IPC_SEND_MSG, 14, 24)
COUNTS_CALL(counts_receive_0, HCALL_IPC_RECV_MSG, 30, 40)
COUNTS_CALL(counts_receive_1, HCALL_IPC_RECV_MSG, 31, 41)
COUNTS_CALL(counts_receive_2, HCALL_IPC_RECV_MSG, 32, 42)
COUNTS_CALL(counts_receive_3, HCALL_IPC_RECV_MSG, 33, 43)
COUNTS_CALL(counts_receive_4, HCALL_IPC_RECV_MSG, 34, 44)
COUNTS_CALL(counts_deliver_0, HCALL_IPC_SEND_WAIT, 50, 70)
COUNTS_CALL(counts_deliver_1, HCALL_IPC_SEND_WAIT, 51, 71)
COUNTS_CALL(counts_deliver_2, HCALL_IPC_SEND_WAIT, 52, 72)
COUNTS_CALL(counts_deliver_3, HCALL_IPC_SEND_WAIT, 53, 73)
COUNTS_CALL(counts_deliver_4, HCALL_IPC_SEND_WAIT, 54, 74)

/* The port that the message is for: it has arrived. */
#define COUNTS_PORT(name, mark)                            \
    static void name(const struct counts_message *message) \
    {                                                      \
        MACHINE_MARK(mark);                                \
        counts_arrived += message->length;                 \
    }

COUNTS_PORT(counts_port_0, 60)
COUNTS_PORT(counts_port_1, 61)
COUNTS_PORT(counts_port_2, 62)
COUNTS_PORT(counts_port_3, 63)
COUNTS_PORT(counts_port_4, 64)

typedef long (*counts_call_fn)(unsigned long arg0, unsigned long arg1, unsigned long arg2);

static const struct counts_size {
    unsigned int bytes;
    counts_call_fn send, receive, deliver;
    counts_port_fn port;
} counts_sizes[COUNTS_SIZES] = {
    {20, counts_send_0, counts_receive_0, counts_deliver_0, counts_port_0},
    {40, counts_send_1, counts_receive_1, counts_deliver_1, counts_port_1},
    {60, counts_send_2, counts_receive_2, counts_deliver_2, counts_port_2},
    {80, counts_send_3, counts_receive_3, counts_deliver_3, counts_port_3},
    {100, counts_send_4, counts_receive_4, counts_deliver_4, counts_port_4},
};

static counts_port_fn counts_ports[COUNTS_TASKS][COUNTS_PORTS];

static void counts_expect(const char *what, long got, long expected)
{
    if (got != expected) {
        print("BENCH failed: %s: %ld, not %ld\n", what, got, expected);
        machine_shutdown(true);
    }
}

static void counts_make(unsigned int bytes)
{
    counts_out.task = 1;
    counts_out.port = 3;
    counts_out.length = (uint16_t)bytes;
    memset(counts_out.rest, (int)bytes, sizeof(counts_out.rest));
}

static void counts_check(unsigned int bytes, long size)
{
    counts_expect("size", size, (long)bytes);
    counts_expect("length", counts_in.length, (long)bytes);
    counts_expect("last byte", counts_in.rest[bytes - 9U], (long)bytes);
}

/* Waits until a message has come; the interrupt is a guest's own to take back. */
static void counts_wait(void)
{
    cp0_wait();
    cp0_write_cause(cp0_read_cause() & ~COUNTS_MESSAGE);
}

static long counts_await(counts_call_fn receive)
{
    long size = receive(hcall_address(&counts_in), sizeof(counts_in), 0);

    while (size == IPC_NOT_NOW) {
        counts_wait();
        size = receive(hcall_address(&counts_in), sizeof(counts_in), 0);
    }
    return size;
}

/* --- the sender --- */

static void counts_send(const struct counts_size *s)
{
    long error;

    counts_make(s->bytes);
    for (unsigned int i = 0; i < COUNTS_SHOTS; i++) {
        do {
            error = s->send(counts_peer, hcall_address(&counts_out), s->bytes);
        } while (error == IPC_NOT_NOW || error == IPC_NOT_RUNNING); /* the receiver's turn comes */
        counts_expect("send", error, 0);
    }
    (void)counts_await(counts_receive_0); /* it has them all, and waits */
    for (unsigned int i = 0; i < COUNTS_SHOTS; i++) {
        cp0_write_cause(cp0_read_cause() & ~COUNTS_MESSAGE);
        error = s->deliver(counts_peer, hcall_address(&counts_out), s->bytes);
        counts_expect("deliver", error, 0);
        (void)counts_await(counts_receive_0);
    }
}

/* --- the receiver --- */

static void counts_tell(void)
{
    static const uint8_t go __attribute__((aligned(8))) = 1;

    counts_expect("tell", hcall_call(HCALL_IPC_SEND_MSG, counts_peer, hcall_address(&go), 1).error, 0);
}

static void counts_receive(const struct counts_size *s)
{
    long size;

    counts_ports[1][3] = s->port;
    for (unsigned int i = 0; i < COUNTS_SHOTS; i++) {
        do { /* without waiting, so that it is ready when it does not run */
            size = s->receive(hcall_address(&counts_in), sizeof(counts_in), 0);
        } while (size == IPC_NOT_NOW);
        counts_check(s->bytes, size);
    }
    cp0_write_cause(cp0_read_cause() & ~COUNTS_MESSAGE);
    counts_tell();
    for (unsigned int i = 0; i < COUNTS_SHOTS; i++) {
        size = counts_await(s->receive);
        counts_ports[counts_in.task % COUNTS_TASKS][counts_in.port % COUNTS_PORTS](&counts_in);
        counts_check(s->bytes, size);
        counts_tell();
    }
    counts_expect("arrived", (long)counts_arrived, (long)(COUNTS_SHOTS * s->bytes));
    counts_arrived = 0;
}

int main(unsigned long hart, const void *fdt)
{
    char role[8] = "";

    (void)hart;
    uart_init();
    (void)fdt_bootarg(fdt, "role", role, sizeof(role));
    machine_wake_by_message(true);
    for (unsigned int i = 0; i < COUNTS_SHOTS; i++) {
        counts_expect("id", counts_get_id(0, 0, 0), strcmp(role, "send") == 0 ? 0 : 1);
    }
    counts_peer = strcmp(role, "send") == 0 ? 1 : 0;
    for (unsigned int n = 0; n < COUNTS_SIZES; n++) {
        if (counts_peer == 1) {
            counts_send(&counts_sizes[n]);
        } else {
            counts_receive(&counts_sizes[n]);
        }
    }
    print("BENCH done\n");
    return 0;
}
