/* SPDX-License-Identifier: Apache-2.0 */
/* A CPU's timers in a sorter of the fabric (HYP_TIMERS=sorter). It serves timer.c, which holds
 * sched_lock. */
#include "cpu.h"

#define NUMBER (SORTERS_A_CPU - 1U) /* of the sorter, in those of its CPU */

/* owner: the CPUs' timers; guarded by sched_lock */
static struct sorter timer_sorters[SYSIMAGE_MAX_HARTS];
static unsigned made; /* owner: this file; number of the system's timers; constant after boot */

void timers_init(struct timers *timers, unsigned cpu)
{
    made = cpu == 0 ? 0 : made;
    timers->sorter = &timer_sorters[cpu];
    sorter_init(timers->sorter, cpu, NUMBER);
}

void timers_register(void)
{
    made++;
}

const char *timers_boot(void)
{
    return sorters_take(NUMBER, 1, made);
}
