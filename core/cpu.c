/* SPDX-License-Identifier: Apache-2.0 */
/* Interrupts between CPUs: the requests of each CPU (cpu.ipi) and their handling. An interrupt is
 * sent when the sender has released its locks, because the receiver would wait for them. It serves
 * the scheduler and all that runs on several CPUs. */
#include "cpu.h"

#include "arch.h"
#include "atomic.h"
#include "component.h"
#include "sched.h"
#include "trace.h"

void cpu_kick(struct cpu *cpu, ulong reason)
{
    struct cpu *self = cpu_self();
    ulong before;

    if (cpu == self) {
        self->flags |= CPU_RESCHED;
        return;
    }
    /* release: the data that the kick announces is visible before the bit */
    before = atomic_or_release(&cpu->ipi, reason);

    if (before == 0) {
        self->kicked |= 1UL << cpu->id;
    }
}

void cpu_end_kicks(void)
{
    struct cpu *self = cpu_self();

    self->locks--;
    if (self->kicked != 0 && self->locks == 0) {
        cpu_send_kicks(self);
    }
}

void cpu_send_kicks(struct cpu *self)
{
    ulong cpus = self->kicked;

    self->kicked = 0;
    arch_cpus_interrupt(cpus);
}

void cpu_ipi_received(void)
{
    struct cpu *cpu = cpu_self();
    ulong reason = atomic_exchange_acquire(&cpu->ipi, 0);

    if ((reason & IPI_RESCHED) != 0) {
        cpu->flags |= CPU_RESCHED;
    }
    if ((reason & IPI_SLICE) != 0) {
        sched_slice_changed(cpu);
    }
    if ((reason & IPI_SYNC) != 0) {
        if (cpu->current != NULL) { /* without a current VCPU, sched_run() injects them later */
            vcpu_take_pending(cpu->current);
            arch_vcpu_sync(cpu->current);
        }
        components_cpu_sync();
    }
}
