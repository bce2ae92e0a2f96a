/* SPDX-License-Identifier: Apache-2.0 */
#include "sched_be.h"

#include "arch.h"
#include "system.h"

struct sched_be sched_be;

void be_init(uint32_t quantum)
{
    list_init(&sched_be.queue);
    sched_be.quantum = quantum;
}

/* A CPU that waits for work gets it: this one if it does, which is on its way to the queue, else another. */
static bool be_wake_idle(void)
{
    struct cpu *cpu = cpu_self();

    for (unsigned i = 0; i < hyp.ncpus && !cpu->idle; i++) {
        cpu = cpu_get(i);
    }
    if (!cpu->idle) {
        return false;
    }
    cpu->idle = false;  /* taken: the next one to wake looks for another */
    cpu->slice_end = 0; /* nobody shall end a slice that has not begun */
    cpu_kick(cpu, IPI_RESCHED);
    return true;
}

/* No end, or none but that of the CPU's horizon, which leaves as much as there can be. */
static inline bool be_endless(const struct cpu *cpu)
{
    const struct vcpu *v = cpu_slice_owner(cpu);

    return cpu->slice_end == TICKS_NEVER || (UNLIKELY(cpu->urgent != NULL) && v != NULL && v->left == sched_be.quantum);
}

/* The CPU whose slice, with no end in sight, began first: its end comes first. NULL if every slice has an end. */
static struct cpu *be_endless_cpu(const struct cpu *except)
{
    struct cpu *first = NULL;

    for (unsigned i = 0; i < hyp.ncpus; i++) {
        struct cpu *cpu = cpu_get(i);

        if (cpu != except && be_endless(cpu) && (first == NULL || cpu->since < first->since)) {
            first = cpu;
        }
    }
    return first;
}

/* A VCPU waits: the endless slice of `cpu` ends by the clock. A CPU whose slice is nobody's is on its way to the queue. */
static void be_end_slice(struct cpu *cpu)
{
    struct vcpu *v = cpu_slice_owner(cpu);

    if (v != NULL) {
        be_start(cpu, v);
    } else {
        cpu->slice_end = cpu->since + sched_be.quantum;
    }
    if (cpu == cpu_self()) {
        timer_program(cpu);
    } else {
        cpu_kick(cpu, IPI_SLICE);
    }
}

static void __attribute__((noinline)) be_find_cpu(const struct cpu *except)
{
    struct cpu *cpu;

    if (be_wake_idle()) {
        return;
    }
    cpu = be_endless_cpu(except);
    if (cpu != NULL) {
        be_end_slice(cpu);
    }
}

void be_notify(void)
{
    if (!list_empty(&sched_be.queue)) {
        be_find_cpu(cpu_self());
    }
}

void be_wake(struct vcpu *v)
{
    struct cpu *self = cpu_self();

    list_insert_before(&sched_be.queue, &v->node);
    if (!arch_alone()) {
        be_find_cpu(NULL);
    } else if (be_endless(self) && cpu_slice_owner(self) != NULL) {
        be_end_slice(self);
    }
}
