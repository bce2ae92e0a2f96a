/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Floating point, part two: a chaotic recurrence, in which a single wrong bit soon changes all
 * bits. It rounds towards zero while all other tasks round to nearest, which also detects a wrong
 * fcsr.
 */
#include <string.h>

#include "FreeRTOS.h"
#include "burst.h"
#include "check.h"
#include "task.h"

#define CHAOS_STEPS 1000U
#define ROUND_TO_NEAREST 0UL
#define ROUND_TO_ZERO 1UL

struct check chaos_check = {.name = "chaos", .needed = 100};

static uint64_t chaos_reference;

static void chaos_set_rounding(unsigned long mode)
{
    __asm__ volatile("fsrm %0" : : "r"(mode));
}

static unsigned long chaos_get_rounding(void)
{
    unsigned long mode;

    __asm__ volatile("frrm %0" : "=r"(mode));
    return mode;
}

/*
 * Bits of the logistic map's value after many steps. Not inlined: the compiler may not move it
 * across fsrm.
 */
static __attribute__((noinline)) uint64_t chaos_run(void)
{
    volatile double begin = 0.3;
    double value = begin;
    uint64_t bits;

    for (unsigned int i = 0; i < CHAOS_STEPS; i++) {
        value = 3.999 * value * (1.0 - value);
    }
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static void chaos_round(void)
{
    uint64_t bits = chaos_run();

    if (chaos_get_rounding() != ROUND_TO_ZERO) {
        check_fail(&chaos_check, "another task's rounding mode", chaos_get_rounding());
    } else if (bits != chaos_reference) {
        check_fail(&chaos_check, "not the bits of the reference in round", chaos_check.rounds);
    } else {
        check_pass(&chaos_check);
    }
}

static void chaos_task(void *argument)
{
    TickType_t wake = burst_start();

    (void)argument;
    chaos_set_rounding(ROUND_TO_ZERO);
    for (;;) {
        uint64_t end = burst_wait(&wake);

        while (csr_read_time() < end) {
            chaos_round();
        }
    }
}

void chaos_check_start(void)
{
    uint64_t to_nearest = chaos_run();

    chaos_set_rounding(ROUND_TO_ZERO);
    chaos_reference = chaos_run();
    chaos_set_rounding(ROUND_TO_NEAREST);
    configASSERT(chaos_reference != to_nearest); /* the rounding mode must make a difference */
    check_create_task(chaos_task, "chaos", NULL, PRIORITY_ARITHMETIC);
}
