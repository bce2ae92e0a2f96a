/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two kinds of deadline per CPU share its hardware timer: the end of the running VCPU's slice (cpu.slice_end), and a
 * list of one-shot software timers, sorted. The hardware is set to the first of all; while a VCPU
 * runs that comes before best effort, to the end of its slice only. Nothing is pending, nothing ticks. Every function but timer_expire() wants sched_lock held, because a VCPU that wakes on another CPU
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
    bool unlocked; /* expired() is called without sched_lock instead: it may be armed anew meanwhile */
};

void timer_init(struct timer *t, void (*expired)(struct timer *));

/* The part of timer_arm() that is there for a deadline. */
void timer_insert(struct timer *t, ticks_t deadline);

static inline void timer_disarm(struct timer *t)
{
    list_remove(&t->node);
}

/* Arms `t` on this CPU for `deadline`, moving it if it was armed. TICKS_NEVER disarms. */
static inline void timer_arm(struct timer *t, ticks_t deadline)
{
    timer_disarm(t);
    if (deadline != TICKS_NEVER) {
        timer_insert(t, deadline);
    }
}

/* The hardware timer of `cpu`, this CPU, has interrupted: runs what has expired. Bounded by the number of timers. */
void timer_expire(struct cpu *cpu);

/* cpu.armed when the hardware timer has interrupted and was not set again. */
#define TIMER_FIRED ((ticks_t)0)

static inline struct timer *timer_of(struct list *node)
{
    return CONTAINER_OF(node, struct timer, node);
}

#endif
