/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One-shot software timers: one list per CPU, sorted by deadline; the CPU's hardware timer is set to the first.
 * Nothing is pending, nothing ticks. Every function but timer_expire() wants sched_lock held, because a VCPU that wakes on another CPU
 * takes its timer along.
 */
#ifndef TIMER_H
#define TIMER_H

#include "list.h"
#include "types.h"

struct cpu;

struct timer {
    struct list node;                /* in cpu->timers, or alone */
    ticks_t deadline;                /* absolute */
    void (*expired)(struct timer *); /* mandatory; called once, with sched_lock held, timer already out of the list */
};

void timer_init(struct timer *t, void (*expired)(struct timer *));

/* Arms `t` on this CPU for `deadline`, moving it if it was armed. TICKS_NEVER disarms. */
void timer_arm(struct timer *t, ticks_t deadline);

void timer_disarm(struct timer *t);

/* Runs what has expired on this CPU and sets the hardware timer to the next deadline. Bounded by the number of timers. */
void timer_expire(void);

/* Sets the hardware timer if timer_expire() left that to the scheduler. */
void timer_settle(struct cpu *cpu);

#endif
