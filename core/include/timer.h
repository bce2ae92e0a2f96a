/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two kinds of deadline per CPU share its hardware timer: the end of the running VCPU's slice
 * (cpu.slice_end), and one-shot software timers, in a heap or in a sorter of the fabric, as the
 * build chooses (HYP_TIMERS). The hardware is programmed for the first of all; while a VCPU of a
 * class above best effort runs, for the end of its slice only. There is no periodic tick. Callers
 * of every function but timer_expire() hold sched_lock, because a VCPU that wakes on another CPU
 * moves its timer there. Guests set most timers, so the cost of one must not grow with their
 * number.
 */
#ifndef TIMER_H
#define TIMER_H

#include "heap.h"
#include "sysimage.h"
#include "types.h"

struct cpu;

struct timer {
    struct heap_node node; /* in the timers of `cpu`; its key is the absolute deadline */
    /* mandatory; called once, with sched_lock held, timer already disarmed */
    void (*expired)(struct timer *);
    /* expired() is called without sched_lock, and may take locks that come before it */
    bool unlocked;
    uint8_t cpu; /* whose timers it is in; guarded by sched_lock, as `node` */
};

#define TIMERS_OF_COMPONENTS 8U /* at most, without those of each VM */
/* Timers of all VCPUs, all VMs (a watchdog and the architecture's), and components: all may be
 * armed on one CPU. */
#define TIMERS_MAX \
    (SYSIMAGE_MAX_VCPUS + SYSIMAGE_MAX_VMS * (1U + ARCH_VM_TIMERS) + TIMERS_OF_COMPONENTS)

/*
 * Either header has struct timers, with timers_head() for timers that are not empty, and
 *
 * void timers_register(void): a timer was initialized.
 * const char *timers_boot(void): none follows, and they can be armed from here on. Returns why the
 * system cannot use them, or NULL.
 */
#ifdef TIMERS_SORTER
#include "timers_sorter.h"
#else
#include "timers_heap.h"
#endif

/* Makes the timers of CPU number `cpu`, 0 .. hyp.ncpus-1, empty. */
void timers_init(struct timers *timers, unsigned cpu);

/* Once for each timer, at boot. */
void timer_init(struct timer *t, void (*expired)(struct timer *));

/* The out-of-line parts of timer_arm(): a deadline that is not TICKS_NEVER, and a timer that is
 * armed. */
void timer_insert(struct timer *t, ticks_t deadline);
void timer_remove(struct timer *t);

static inline bool timer_armed(const struct timer *t)
{
    return t->node.at != 0;
}

static inline void timer_disarm(struct timer *t)
{
    if (timer_armed(t)) {
        timer_remove(t);
    }
}

/* Arms `t` on this CPU for `deadline`, also if it was armed elsewhere. TICKS_NEVER disarms. */
static inline void timer_arm(struct timer *t, ticks_t deadline)
{
    timer_disarm(t);
    if (deadline != TICKS_NEVER) {
        timer_insert(t, deadline);
    }
}

/* The hardware timer of `cpu`, this CPU, has interrupted: at the end of the slice requests the
 * scheduler (CPU_RESCHED), otherwise runs the first timer if it has expired. */
void timer_expire(struct cpu *cpu);

/* cpu.armed from an interrupt of the hardware timer until it is programmed again. */
#define TIMER_FIRED ((ticks_t)0)

/* The first deadline of `timers`; TICKS_NEVER if there is none. */
static inline ticks_t timers_first(const struct timers *timers)
{
    return timers_count(timers) != 0 ? timers_head(timers)->key : TICKS_NEVER;
}

#endif
