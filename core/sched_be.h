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
    ticks_t quantum;
    bool shared; /* by more than one CPU */
};

extern struct sched_be sched_be; /* owner: sched_be.c */

static inline void be_enqueue(struct sched_be *be, struct vcpu *v)
{
    list_insert_before(&be->queue, &v->node);
}

/* v has lost the CPU, to another class if some of its turn is left. */
static inline void be_enqueue_again(struct sched_be *be, struct vcpu *v)
{
    list_insert_before(LIKELY(v->left != 0) ? be->queue.next : &be->queue, &v->node);
}

/* The VCPU that has waited longest; somebody waits. */
static inline const struct vcpu *be_first(const struct sched_be *be)
{
    return CONTAINER_OF(be->queue.next, struct vcpu, node);
}

/* The same, taken out. */
static inline struct vcpu *be_take_first(struct sched_be *be)
{
    return CONTAINER_OF(list_take_first(&be->queue), struct vcpu, node);
}

/* The same, or NULL if nobody waits. */
static inline struct vcpu *be_pick(struct sched_be *be)
{
    return list_empty(&be->queue) ? NULL : be_take_first(be);
}

/* A slice has an end only while somebody waits. Whoever puts a VCPU into the queue finds one CPU for it: wakes one that
 * is idle, or ends one slice that had no end. The queue fills through be_wake(), where another class takes a VCPU's CPU,
 * and at the end of each slice, so that all slices have an end after as many quanta as there are CPUs. What the horizon
 * will cut off follows when whoever is released there has had its turn, or one VM could get a quantum in each period of
 * an app, and the others a moment. */
static inline void be_start(struct sched_be *be, struct cpu *cpu, struct vcpu *v)
{
    ticks_t end = list_empty(&be->queue) ? TICKS_NEVER : cpu->since + (v->left != 0 ? v->left : be->quantum);
    ticks_t cut = end > cpu->horizon ? end - cpu->horizon : 0;

    cpu->slice_end = end - cut;
    v->left = cut < be->quantum ? cut : be->quantum;
}

/* The same where it is known that somebody waits. */
static inline void be_start_shared(const struct sched_be *be, struct cpu *cpu)
{
    cpu->slice_end = cpu->since + be->quantum;
}

/* Another class preempts v: its slice ends now, and v keeps the remainder of its quantum. */
static inline void be_interrupt(const struct sched_be *be, struct cpu *cpu, struct vcpu *v)
{
    ticks_t now = arch_time();
    ticks_t left = cpu->slice_end > now ? cpu->slice_end - now : 0;

    left = left < be->quantum ? left + v->left : be->quantum;
    v->left = left < be->quantum ? left : be->quantum;
    cpu->slice_end = now;
}

/* v became ready: one idle CPU is woken to take it; without one, one of the slices that have no end gets one. */
void be_wake(struct vcpu *v);

/* If somebody waits, whom this CPU does not take: the same of the other CPUs. Where the CPUs share the queue. */
void be_notify(void);

void be_init(ticks_t quantum);

#endif
