/* SPDX-License-Identifier: Apache-2.0 */
#include "timer.h"

#include "machine.h"

#define TIMER_FAR 0x40000000U /* ticks: as far ahead as it is set, well within half of what Count holds */
#define TIMER_NEAR 16U        /* as near */

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

/* There is an interrupt when Count is Compare, not when it is beyond: one that is set too late would come a round later. */
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

/* Looks at the time once, and not before Compare is set: to read Count may be slow in a VM. */
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
