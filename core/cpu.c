/* SPDX-License-Identifier: Apache-2.0 */
#include "cpu.h"

#include "arch.h"
#include "sched.h"
#include "trace.h"

void cpu_kick(struct cpu *cpu, ulong reason)
{
    /* release: what the kick is about is visible before the bit is */
    ulong before = __atomic_fetch_or(&cpu->ipi, reason, __ATOMIC_RELEASE);

    /* A bit that was set already has an interrupt under way that will see this one too. */
    if (before == 0) {
        arch_cpu_interrupt(cpu);
    }
}

void cpu_ipi_received(void)
{
    struct cpu *cpu = cpu_self();
    ulong reason = __atomic_exchange_n(&cpu->ipi, 0, __ATOMIC_ACQUIRE);

    if ((reason & IPI_RESCHED) != 0) {
        cpu->flags |= CPU_RESCHED;
    }
    if (cpu->current == NULL) {
        return; /* idle or loading a VM: the scheduler looks for itself */
    }
    if ((reason & IPI_SYNC) != 0) {
        vcpu_take_pending(cpu->current);
        arch_vcpu_sync(cpu->current);
    }
    if ((reason & IPI_SLICE) != 0) {
        sched_end_slice(cpu);
    }
}
