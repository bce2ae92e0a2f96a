/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Best effort: round robin with a quantum, one queue for all CPUs, no tick while the queue is
 * empty. Inline, for sched.c only: this is the path at the end of every quantum. All functions are
 * called with sched_lock held.
 */
#ifndef SCHED_BE_H
#define SCHED_BE_H

#include "arch.h"
#include "cpu.h"
#include "list.h"
#include "sched.h"

struct sched_be {
    struct list queue; /* of ready VCPUs, the first runs next; guarded by sched_lock */
    uint32_t quantum;  /* ticks; constant after boot */
};

extern struct sched_be sched_be; /* owner: sched_be.c */

/* `v` has left the CPU at the end of its slice, or became ready. */
static inline void be_enqueue(struct vcpu *v)
{
    list_insert_before(&sched_be.queue, &v->node);
}

/* `v` has left the CPU to another class. A VCPU with a remainder runs next. */
static inline void be_enqueue_preempted(struct vcpu *v)
{
    list_insert_before(v->remainder != 0 ? sched_be.queue.next : &sched_be.queue, &v->node);
}

/* Takes out the VCPU that has waited longest; NULL if the queue is empty. */
static inline struct vcpu *be_pick(void)
{
    struct list *queue = &sched_be.queue;

    return list_empty(queue) ? NULL : CONTAINER_OF(list_take_first(queue), struct vcpu, node);
}

/* The slice of v ends at the next release at the latest; v keeps what that cuts off as a remainder,
 * up to a quantum. */
static inline void be_end_at_release(struct cpu *cpu, struct vcpu *v)
{
    if (cpu->slice_end > cpu->next_release) {
        ticks_t cut = cpu->slice_end - cpu->next_release;

        v->remainder = cut < sched_be.quantum ? (uint32_t)cut : sched_be.quantum;
        cpu->slice_end = cpu->next_release;
    }
}

/*
 * A slice has an end only while a VCPU waits in the queue. Each insertion is followed by a search
 * for one CPU: an idle CPU is woken, or one slice without an end is given a quantum. The queue is
 * filled by be_wake(), by a class that takes a VCPU's CPU, and at the end of each slice, so that
 * after as many quanta as there are CPUs all slices have an end.
 *
 * A slice cut short by the next release of another class keeps its remainder and resumes
 * afterwards; otherwise one VM could get a full quantum per period of an RT app and the others
 * almost nothing.
 */
static inline void be_start(struct cpu *cpu, struct vcpu *v)
{
    ticks_t end = TICKS_NEVER;
    bool waited_for = !list_empty(&sched_be.queue);

    if (waited_for && v->remainder == 0) {
        end = cpu->since + sched_be.quantum;
    } else if (waited_for) {
        end = cpu->since + v->remainder;
        v->remainder = 0;
    } else {
        v->remainder = 0;
    }
    cpu->slice_end = end;
}

/* Another class preempts v: its slice ends now, and v keeps the remainder of its quantum. */
static inline void be_preempt(struct cpu *cpu, struct vcpu *v)
{
    ticks_t now = arch_time();
    ticks_t left = cpu->slice_end > now ? cpu->slice_end - now : 0;

    left = left < sched_be.quantum ? left + v->remainder : sched_be.quantum;
    v->remainder = left < sched_be.quantum ? (uint32_t)left : sched_be.quantum;
    cpu->slice_end = now;
}

/* v became ready: enqueues it, and wakes an idle CPU or gives one slice without an end a
 * quantum. */
void be_wake(struct vcpu *v);

/* If a VCPU waits: wakes an idle CPU or gives one slice without an end a quantum, as be_wake(), but
 * not on this CPU. On machines with more than one CPU. */
void be_notify(void);

/* `quantum` in ticks. */
void be_init(uint32_t quantum);

#endif
