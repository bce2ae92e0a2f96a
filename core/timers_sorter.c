/* SPDX-License-Identifier: Apache-2.0 */
#include "cpu.h"

#define NUMBER (SORTERS_A_CPU - 1U) /* of the sorter, in those of its CPU */

static struct sorter timer_sorters[SYSIMAGE_MAX_HARTS]; /* owner: the CPUs' timers; guarded by sched_lock */

void timers_init(struct timers *timers, unsigned cpu)
{
    timers->sorter = &timer_sorters[cpu];
    sorter_init(timers->sorter, cpu, NUMBER);
}

const char *timers_boot(unsigned made)
{
    return sorters_take(NUMBER, 1, made);
}
