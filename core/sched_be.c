/* SPDX-License-Identifier: Apache-2.0 */
/* The rare operations of best effort, out of line; sched_be.h has the others. All are called with
 * sched_lock held, which guards the queue. */
#include "sched_be.h"

#include "arch.h"
#include "system.h"

struct sched_be sched_be;

void be_init(uint32_t quantum)
{
    list_init(&sched_be.queue);
    sched_be.quantum = quantum;
}

/* Wakes an idle CPU: this one if it is idle, since it is about to pick, else another. */
static bool be_wake_idle(void)
{
    struct cpu *cpu = cpu_self();

    for (unsigned i = 0; i < hyp.ncpus && !cpu->idle; i++) {
        cpu = cpu_get(i);
    }
    if (!cpu->idle) {
        return false;
    }
    cpu->idle = false;  /* claimed: the next VCPU to wake is given another CPU */
    cpu->slice_end = 0; /* its slice has not begun, and must not be given an end */
    cpu_kick(cpu, IPI_RESCHED);
    return true;
}

/* The slice has no end, or only that of the next release, which leaves a whole quantum as
 * remainder. */
static inline bool be_endless(const struct cpu *cpu)
{
    const struct vcpu *v = cpu_slice_owner(cpu);

    return cpu->slice_end == TICKS_NEVER ||
           (cpu->class != NULL && v != NULL && v->remainder == sched_be.quantum);
}

/* The CPU whose slice without an end began first, and so is given an end first. NULL if every slice
 * has an end. */
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

/* A VCPU waits: gives the endless slice of `cpu` an end. A CPU without a slice owner is about to
 * pick from the queue. */
static void be_limit_slice(struct cpu *cpu)
{
    struct vcpu *v = cpu_slice_owner(cpu);

    if (v != NULL) {
        be_start(cpu, v);
        be_end_at_release(cpu, v);
    } else {
        cpu->slice_end = cpu->since + sched_be.quantum;
    }
    if (cpu == cpu_self()) {
        timer_program(cpu);
    } else {
        cpu_kick(cpu, IPI_SLICE);
    }
}

static void be_find_cpu(const struct cpu *except)
{
    struct cpu *cpu;

    if (be_wake_idle()) {
        return;
    }
    cpu = be_endless_cpu(except);
    if (cpu != NULL) {
        be_limit_slice(cpu);
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

    be_enqueue(v);
    if (!arch_is_uniprocessor()) {
        be_find_cpu(NULL);
    } else if (be_endless(self) && cpu_slice_owner(self) != NULL) {
        be_limit_slice(self);
    }
}
