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
void timer_set(uint64_t deadline)
{
    uint64_t now = machine_time();
    uint32_t ahead = deadline <= now ? 0 : deadline - now > TIMER_FAR ? TIMER_FAR : (uint32_t)(deadline - now);
    uint32_t compare = (uint32_t)now + ahead;

    timer_deadline = deadline;
    for (uint32_t near = TIMER_NEAR;; near *= 2) {
        cp0_write_compare(compare);
        if ((int32_t)(compare - cp0_read_count()) > 0) {
            return;
        }
        compare = cp0_read_count() + near;
    }
}

void timer_again(void)
{
    timer_set(machine_time() < timer_deadline ? timer_deadline : UINT64_MAX);
}
