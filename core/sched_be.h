/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Best effort: round robin with a quantum, one queue for all CPUs, no tick while nobody waits. Inline, for sched.c only:
 * this is the path at the end of every quantum. All with sched_lock held.
 */
#ifndef SCHED_BE_H
#define SCHED_BE_H

#include "arch.h"
#include "cpu.h"
#include "list.h"
#include "sched.h"

struct sched_be {
    struct list queue;
    uint32_t quantum; /* ticks */
};

extern struct sched_be sched_be; /* owner: sched_be.c */

/* `v` has left the CPU. A VCPU with a remainder was preempted by another class, and runs next. */
static inline void be_enqueue(struct vcpu *v)
{
    list_insert_before(UNLIKELY(v->left != 0) ? sched_be.queue.next : &sched_be.queue, &v->node);
}

/* Takes out the VCPU that has waited longest; NULL if the queue is empty. */
static inline struct vcpu *be_pick(void)
{
    struct list *queue = &sched_be.queue;

    return list_empty(queue) ? NULL : CONTAINER_OF(list_take_first(queue), struct vcpu, node);
}

/*
 * A slice has an end only while a VCPU waits in the queue. Whoever inserts a VCPU finds one CPU for it: it wakes an idle
 * CPU, or gives one slice without an end a quantum. The queue is filled by be_wake(), by a class that takes a VCPU's CPU,
 * and at the end of each slice, so that after as many quanta as there are CPUs all slices have an end.
 *
 * A slice cut short by the next release of another class keeps its remainder and resumes afterwards; otherwise one VM
 * could get a full quantum per period of an RT app and the others almost nothing.
 */
static inline void be_start(struct cpu *cpu, struct vcpu *v)
{
    ticks_t end = TICKS_NEVER;
    ticks_t cut = 0;

    if (!list_empty(&sched_be.queue)) {
        end = cpu->since + (UNLIKELY(v->left != 0) ? v->left : sched_be.quantum);
    }
    if (UNLIKELY(end > cpu->horizon)) {
        cut = end - cpu->horizon;
    }
    cpu->slice_end = end - cut;
    v->left = cut < sched_be.quantum ? (uint32_t)cut : sched_be.quantum;
}

/* Another class preempts v: its slice ends now, and v keeps the remainder of its quantum. */
static inline void be_interrupt(struct cpu *cpu, struct vcpu *v)
{
    ticks_t now = arch_time();
    ticks_t left = cpu->slice_end > now ? cpu->slice_end - now : 0;

    left = left < sched_be.quantum ? left + v->left : sched_be.quantum;
    v->left = left < sched_be.quantum ? (uint32_t)left : sched_be.quantum;
    cpu->slice_end = now;
}

/* v became ready: one idle CPU is woken to take it; without one, one of the slices that have no end gets one. */
void be_wake(struct vcpu *v);

/* If somebody waits, whom this CPU does not take: the same of the other CPUs. Where the CPUs share the queue. */
void be_notify(void);

/* `quantum` in ticks. */
void be_init(uint32_t quantum);

#endif
