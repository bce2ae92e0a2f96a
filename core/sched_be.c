/* SPDX-License-Identifier: Apache-2.0 */
#include "sched_be.h"

#include "arch.h"
#include "system.h"

struct sched_be sched_be;

void be_init(ticks_t quantum)
{
    list_init(&sched_be.queue);
    sched_be.quantum = quantum;
    sched_be.shared = hyp.ncpus > 1;
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

/* No end, or none but that of the CPU's horizon, which leaves as much as there can be. */
static inline bool be_endless(const struct cpu *cpu)
{
    const struct vcpu *v = cpu->current;

    return cpu->slice_end == TICKS_NEVER || (UNLIKELY(cpu->urgent != NULL) && v != NULL && v->left == sched_be.quantum);
}

/* Ends the slices of the other CPUs that run somebody with no end in sight. */
static void be_end_others(void)
{
    for (unsigned i = 0; i < hyp.ncpus; i++) {
        if (cpu_get(i) != cpu_self() && be_endless(cpu_get(i))) {
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

void be_notify(void)
{
    struct cpu *self = cpu_self();

    if (sched_be.shared && be_wake_others()) {
        return;
    }
    if (UNLIKELY(self->urgent != NULL)) {
        if (self->current != NULL && be_endless(self)) {
            sched_end_slice_locked(self);
        }
    } else if (self->slice_end == TICKS_NEVER && self->current != NULL) {
        be_start(&sched_be, self, self->current);
        timer_settle(self);
    }
}

void be_wake(struct vcpu *v)
{
    be_enqueue(&sched_be, v);
    be_notify();
}
