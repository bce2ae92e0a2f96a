/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two kinds of deadline per CPU share its hardware timer: the end of the running VCPU's slice (cpu.slice_end), and a
 * heap of one-shot software timers. The hardware is set to the first of all; while a VCPU runs that comes before best
 * effort, to the end of its slice only. Nothing is pending, nothing ticks. Every function but timer_expire() wants
 * sched_lock held, because a VCPU that wakes on another CPU takes its timer along. Guests set most of them, so what one
 * costs must not grow with their number.
 */
#ifndef TIMER_H
#define TIMER_H

#include "heap.h"
#include "sysimage.h"
#include "types.h"

struct cpu;

struct timer {
    struct heap_node node;           /* in the timers of `cpu`; its key is the absolute deadline */
    void (*expired)(struct timer *); /* mandatory; called once, with sched_lock held, timer already disarmed */
    bool unlocked; /* expired() is called without sched_lock instead: it may be armed anew meanwhile */
    uint8_t cpu;   /* that it was armed on */
};

/* Of all VCPUs, all VMs (a watchdog and the architecture's) and the console: they may all be on one CPU. */
#define TIMERS_MAX (SYSIMAGE_MAX_VCPUS + SYSIMAGE_MAX_VMS * (1U + ARCH_VM_TIMERS) + 1U)

struct timers {
    unsigned count;
    struct heap_node **nodes; /* TIMERS_MAX of them */
};

/* For CPU number `cpu`, 0 .. system.ncpus-1, which has no timers. */
void timers_init(struct timers *timers, unsigned cpu);

void timer_init(struct timer *t, void (*expired)(struct timer *));

/* The parts of timer_arm() that are there for a deadline, and for a timer that is armed. */
void timer_insert(struct timer *t, ticks_t deadline);
void timer_remove(struct timer *t);

static inline void timer_disarm(struct timer *t)
{
    if (t->node.at != 0) {
        timer_remove(t);
    }
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

/* The first deadline of `timers`, TICKS_NEVER if there is none. */
static inline ticks_t timers_first(const struct timers *timers)
{
    return timers->count != 0 ? timers->nodes[0]->key : TICKS_NEVER;
}

#endif
