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

/* Ends the slice of a CPU that runs somebody with no end in sight. */
static void be_end_slice(struct cpu *cpu)
{
    if (cpu != cpu_self()) {
        cpu_kick(cpu, IPI_SLICE);
    } else if (cpu->current != NULL) {
        sched_end_slice_locked(cpu);
    }
}

void be_wake(struct vcpu *v)
{
    be_enqueue(&sched_be, v);
    for (unsigned i = 0; i < hyp.ncpus; i++) {
        struct cpu *cpu = cpu_get(i);

        if (cpu->idle) {
            cpu->idle = false;       /* taken: the next one to wake looks for another */
            if (cpu != cpu_self()) { /* this CPU is on its way to the queue */
                cpu_kick(cpu, IPI_RESCHED);
            }
            return;
        }
    }
    for (unsigned i = 0; i < hyp.ncpus; i++) {
        struct cpu *cpu = cpu_get(i);

        if (cpu->slice_end == TICKS_NEVER || (cpu->urgent != NULL && cpu->endless)) {
            be_end_slice(cpu);
        }
    }
}
