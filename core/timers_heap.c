/* SPDX-License-Identifier: Apache-2.0 */
/* A CPU's timers in a binary heap (HYP_TIMERS=heap). It serves timer.c, which holds sched_lock.
 * Owns the arrays of the heaps. */
#include "cpu.h"

static struct heap_node *timer_nodes[SYSIMAGE_MAX_HARTS][TIMERS_MAX]; /* owner: the CPUs' timers;
                                                                         guarded by sched_lock */

void timers_init(struct timers *timers, unsigned cpu)
{
    timers->count = 0;
    timers->nodes = timer_nodes[cpu];
}
