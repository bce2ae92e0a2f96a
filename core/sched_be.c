/* SPDX-License-Identifier: Apache-2.0 */
#include "sched_be.h"

#include "arch.h"
#include "system.h"

struct sched_be sched_be;

void be_init(ticks_t quantum)
{
    list_init(&sched_be.queue);
    sched_be.quantum = quantum;
}

/* A CPU that waits for work, which it gets. */
static bool be_wake_idle(void)
{
    for (unsigned i = 0; i < hyp.ncpus; i++) {
        struct cpu *cpu = cpu_get(i);

        if (cpu->idle) {
            cpu->idle = false;       /* taken: the next one to wake looks for another */
            if (cpu != cpu_self()) { /* this CPU is on its way to the queue */
                cpu_kick(cpu, IPI_RESCHED);
            }
            return true;
        }
    }
    return false;
}

/* Ends the slices of the other CPUs that run somebody with no end in sight. */
static void be_end_others(void)
{
    for (unsigned i = 0; i < hyp.ncpus; i++) {
        if (cpu_get(i)->slice_end == TICKS_NEVER && cpu_get(i) != cpu_self()) {
            cpu_kick(cpu_get(i), IPI_SLICE);
        }
    }
}

static bool __attribute__((noinline)) be_wake_others(void)
{
    bool idle = be_wake_idle();

    if (!idle) {
        be_end_others();
    }
    return idle;
}

void be_wake(struct vcpu *v)
{
    struct cpu *self = cpu_self();

    be_enqueue(&sched_be, v);
    if (hyp.ncpus > 1 && be_wake_others()) {
        return;
    }
    if (self->slice_end == TICKS_NEVER && self->current != NULL) {
        be_start(&sched_be, self);
        timer_settle(self);
    }
}
