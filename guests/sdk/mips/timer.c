/* SPDX-License-Identifier: Apache-2.0 */
/* The guest's timer on MIPS32, by Count and Compare (timer.h). Owns the deadline. */
#include "timer.h"

#include "machine.h"

#define TIMER_FAR 0x40000000U /* ticks: longest interval, well below half the range of Count */
#define TIMER_NEAR 16U        /* ticks: shortest interval */

static uint64_t timer_deadline; /* owner: timer_set() */

bool timer_init(void)
{
    timer_set(UINT64_MAX);
    return true;
}

bool timer_is_direct(void)
{
    return true;
}

const char *timer_name(void)
{
    return "Compare";
}

/*
 * The interrupt is raised when Count equals Compare, not when Count is beyond it: a Compare that is
 * already past would interrupt only after Count has wrapped.
 */
static uint64_t timer_soon(void)
{
    for (uint32_t near = TIMER_NEAR;; near *= 2) {
        uint32_t compare = cp0_read_count() + near;

        cp0_write_compare(compare);
        if ((int32_t)(compare - cp0_read_count()) > 0) {
            return machine_time();
        }
    }
}

/* Reads the time once, after setting Compare: reading Count may be slow in a VM. */
uint64_t timer_arm(uint64_t deadline)
{
    uint64_t now;

    timer_deadline = deadline;
    cp0_write_compare((uint32_t)deadline);
    now = machine_time();
    if (now >= deadline) {
        return timer_soon();
    }
    if (deadline - now > TIMER_FAR) {
        cp0_write_compare((uint32_t)now + TIMER_FAR);
    }
    return now;
}

void timer_set(uint64_t deadline)
{
    (void)timer_arm(deadline);
}

void timer_again(void)
{
    timer_set(machine_time() < timer_deadline ? timer_deadline : UINT64_MAX);
}
