/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks every register across context switches: two tasks fill all integer registers, then all
 * other registers of a task, with different values, hold the values during switches, and compare. A
 * round counts only if the other task ran in between.
 */
#include "FreeRTOS.h"
#include "burst.h"
#include "check.h"
#include "hold.h"
#include "task.h"

#define HOLD_TICKS 2U /* per burst: each task runs at least once */
#define HOLD_TASKS 2U

struct check registers_check = {.name = "registers", .needed = 10};

static volatile unsigned long registers_turns[HOLD_TASKS];

static unsigned long registers_end(void)
{
    return (unsigned long)machine_time() + HOLD_TICKS * (PLATFORM_TIMEBASE_HZ / configTICK_RATE_HZ);
}

static void registers_task(void *argument)
{
    uintptr_t self = (uintptr_t)argument;
    unsigned long seed = (unsigned long)((self + 1) * UINT64_C(0x1001001001001000));
    TickType_t wake = burst_start();

    for (;;) {
        unsigned long others;
        unsigned long wrong;

        (void)burst_wait(&wake);
        others = registers_turns[1 - self];
        registers_turns[self] = registers_turns[self] + 1;
        wrong = hold_integer(seed, registers_end());
        if (wrong != 0) {
            check_fail(&registers_check, "changed: integer register", wrong - 1);
        }
        registers_turns[self] = registers_turns[self] + 1;
        wrong = hold_others(seed, registers_end());
        if (wrong != 0) {
            check_fail(&registers_check, "changed: " HOLD_OTHERS, wrong - 1);
        }
        if (self == 0 && registers_turns[1] != others && registers_check.error == NULL) {
            check_pass(&registers_check);
        }
    }
}

void registers_check_start(void)
{
    check_create_task(registers_task, "registers-a", (void *)0, PRIORITY_ARITHMETIC);
    check_create_task(registers_task, "registers-b", (void *)1, PRIORITY_ARITHMETIC);
}
