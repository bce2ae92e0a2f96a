/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arithmetic, part two: a chaotic recurrence in fixed point, in which a single wrong bit soon
 * changes all bits. Each step computes two 64-bit products in HI and LO.
 */
#include "FreeRTOS.h"
#include "burst.h"
#include "check.h"
#include "task.h"

#define CHAOS_STEPS 1000U
#define CHAOS_BEGIN 0x4ccccccdU  /* 0.3; 2^32 represents 1 */
#define CHAOS_FACTOR 0xffef9db2U /* 3.999; 2^30 represents 1 */

struct check chaos_check = {.name = "chaos", .needed = 100};

static uint32_t chaos_reference;

/* Bits of the logistic map's value after many steps. */
static __attribute__((noinline)) uint32_t chaos_run(void)
{
    volatile uint32_t begin = CHAOS_BEGIN;
    uint32_t value = begin;

    for (unsigned int i = 0; i < CHAOS_STEPS; i++) {
        uint32_t bent = (uint32_t)((uint64_t)value * (0U - value) >> 32);

        value = (uint32_t)((uint64_t)bent * CHAOS_FACTOR >> 30);
    }
    return value;
}

static void chaos_round(void)
{
    if (chaos_run() != chaos_reference) {
        check_fail(&chaos_check, "not the bits of the reference in round", chaos_check.rounds);
    } else {
        check_pass(&chaos_check);
    }
}

static void chaos_task(void *argument)
{
    TickType_t wake = burst_start();

    (void)argument;
    for (;;) {
        uint64_t end = burst_wait(&wake);

        while (machine_time() < end) {
            chaos_round();
        }
    }
}

void chaos_check_start(void)
{
    chaos_reference = chaos_run();
    /* the recurrence has not converged */
    configASSERT(chaos_reference != 0 && chaos_reference != CHAOS_BEGIN);
    check_create_task(chaos_task, "chaos", NULL, PRIORITY_ARITHMETIC);
}
