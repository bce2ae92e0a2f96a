/* SPDX-License-Identifier: Apache-2.0 */
/* Best effort: round robin with a quantum, one queue for all CPUs, no tick while nobody waits. */
#include "arch.h"
#include "sched.h"
#include "system.h"

static struct {
    struct list queue;
    ticks_t quantum;
} be; /* owner: this file; guarded by sched_lock */

static void be_slice_over(struct timer *t)
{
    (void)t;
    cpu_self()->flags |= CPU_RESCHED;
}

void sched_be_init(ticks_t quantum)
{
    list_init(&be.queue);
    be.quantum = quantum;
    for (unsigned i = 0; i < hyp.ncpus; i++) {
        timer_init(&cpu_get(i)->slice, be_slice_over);
    }
}

static void be_enqueue(struct vcpu *v)
{
    list_insert_before(&be.queue, &v->node);
}

static void be_dequeue(struct vcpu *v)
{
    list_remove(&v->node);
}

static struct vcpu *be_pick(struct cpu *cpu)
{
    struct list *first = be.queue.next;

    (void)cpu;
    if (first == &be.queue) {
        return NULL;
    }
    list_remove(first);
    return CONTAINER_OF(first, struct vcpu, node);
}

/* A slice has an end only while somebody waits. The queue fills only through be_wake(), which then ends the slices
 * that have none. */
static void be_start(struct cpu *cpu, ticks_t now)
{
    cpu->slice_start = now;
    cpu->tickless = list_empty(&be.queue);
    if (cpu->tickless) {
        timer_disarm(&cpu->slice);
    } else {
        timer_arm(&cpu->slice, now + be.quantum);
    }
}

/* Ends the slice of a CPU that runs somebody with no end in sight. */
static void be_end_slice(struct cpu *cpu)
{
    if (cpu != cpu_self()) {
        cpu->tickless = false;
        cpu_kick(cpu, IPI_SLICE);
    } else if (cpu->current != NULL) {
        be_start(cpu, cpu->slice_start);
    }
}

/* An idle CPU takes what woke; without one, every CPU that ran without an end gets its slice ended by the clock. */
static void be_wake(struct vcpu *v)
{
    be_enqueue(v);
    for (unsigned i = 0; i < hyp.ncpus; i++) {
        struct cpu *cpu = cpu_get(i);

        if (cpu->idle) {
            cpu->idle = false; /* taken: the next one to wake looks for another */
            cpu_kick(cpu, IPI_RESCHED);
            return;
        }
    }
    for (unsigned i = 0; i < hyp.ncpus; i++) {
        if (cpu_get(i)->tickless) {
            be_end_slice(cpu_get(i));
        }
    }
}

const struct sched_class sched_be = {
    .rank = 90,
    .enqueue = be_enqueue,
    .wake = be_wake,
    .dequeue = be_dequeue,
    .pick = be_pick,
    .start = be_start,
};
SCHED_CLASS(sched_be);
