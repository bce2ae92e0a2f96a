/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures timer interrupts and a periodic real-time app while another guest attacks (../attacker).
 * Reports the lateness of both in ticks of `time`, since the last report and, for the app, since
 * the start, and returns the messages that it receives:
 *
 *      ticker: 20 interrupts, late 9800; 10 releases, late 4, ever 9, missed 0; 3 messages, 0
 * wrong, 0 of others
 */
#include <stddef.h>
#include <stdint.h>

#include "ipc.h"
#include "machine.h"
#include "platform.h"
#include "print.h"
#include "rt.h"
#include "timer.h"
#include "trap.h"
#include "uart.h"

/* make sets budget and deadline: the first access to a page is slower on some machines. */
#define PERIOD_US 1300U
#define PERIOD (PERIOD_US * (PLATFORM_TIMEBASE_HZ / 1000000U))
#define TICK (PLATFORM_TIMEBASE_HZ / 2000U) /* 0.5 ms */
#define TICKS_A_LINE 10U
#define VM_ATTACKER 0U

int main(unsigned long hart, const void *fdt);

static volatile unsigned long ticks;
/*
 * Index of the numbers for the next report. It changes before a report is printed, so that events
 * during the output count for the report after it.
 */
static volatile unsigned next;
/* of timer interrupts; owner: their handler */
static volatile uint64_t due, late[2];
static volatile uint64_t release, released_late[2], ever; /* owner: the app */
static volatile unsigned long releases;                   /* owner: the app */

static void tick(void)
{
    uint64_t now = machine_time();

    late[next] = now - due > late[next] ? now - due : late[next];
    ticks++;
    due = now + TICK;
    timer_set(due);
}

/* Records its lateness at the start of each job. */
static void job(void *argument)
{
    uint64_t behind = machine_time() - release;

    (void)argument;
    released_late[next] = behind > released_late[next] ? behind : released_late[next];
    ever = behind > ever ? behind : ever;
    release += PERIOD;
    releases++;
}

static unsigned long start_app(void)
{
    static uint8_t stack[2048] __attribute__((aligned(16)));
    static struct rt_task task = {.job = job};
    struct rt_params params = {.entry = hcall_address((const void *)(uintptr_t)rt_task_entry),
                               .stack = hcall_address(stack) + sizeof(stack),
                               .arg = (uintptr_t)&task,
                               .period_us = PERIOD_US,
                               .budget_us = TICKER_BUDGET_US,
                               .deadline_us = TICKER_DEADLINE_US};
    unsigned long app = (unsigned long)rt_create_app(&params).value;

    release = machine_time() + PERIOD;
    return rt_launch_app(RT_OWN_VM, app, release).error == 0 ? app : ~0UL;
}

static unsigned long missed(unsigned long app)
{
    struct rt_stats stats;

    return rt_get_stats(app, &stats).error == 0 ? (unsigned long)(stats.misses + stats.overruns)
                                                : ~0UL;
}

/* Messages received: in total, with other bytes than the attacker's, and of senders other than
 * it. */
struct received {
    unsigned long messages, wrong, others;
};

/* Receives pending messages, checks that they are those of the attacker, and returns them. */
static void receive_messages(struct received *received)
{
    static uint8_t bytes[IPC_MESSAGE_MAX] __attribute__((aligned(8)));
    struct ipc_peer from = {0};
    long size;

    machine_take_message();
    (void)ipc_doorbells();
    for (size = ipc_receive(bytes, sizeof(bytes), &from); size > 0;
         size = ipc_receive(bytes, sizeof(bytes), &from)) {
        unsigned long bad = 0;

        for (long i = 0; i < size; i++) {
            bad += bytes[i] != (uint8_t)(i / 8 + 1);
        }
        received->messages++;
        received->wrong += bad != 0;
        received->others += from.vm != VM_ATTACKER;
        (void)ipc_send((struct ipc_peer){.vm = VM_ATTACKER}, bytes, (size_t)size);
    }
}

int main(unsigned long hart, const void *fdt)
{
    struct received received = {0};
    unsigned long app, before = 0;

    (void)hart;
    (void)fdt;
    uart_init();
    (void)timer_init();
    machine_on_timer(tick);
    app = start_app();
    due = machine_time() + TICK;
    timer_set(due);
    machine_wake_by_timer(true);
    machine_interrupts(true);
    for (;;) {
        machine_wait();
        receive_messages(&received);
        if (ticks - before >= TICKS_A_LINE) {
            unsigned line = next;

            before = ticks;
            next = !line;
            print("ticker: %lu interrupts, late %lu; %lu releases, late %lu, ever %lu, missed %ld; "
                  "%lu messages, "
                  "%lu wrong, %lu of others\n",
                  ticks, (unsigned long)late[line], releases, (unsigned long)released_late[line],
                  (unsigned long)ever, (long)missed(app), received.messages, received.wrong,
                  received.others);
            late[line] = 0;
            released_late[line] = 0;
        }
    }
}
