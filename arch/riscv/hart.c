/* SPDX-License-Identifier: Apache-2.0 */
/* A hart: its CSRs, timer and interrupts. It serves core through arch.h, each function for the hart
 * that calls it. Owns the boot hart's number. */
#include "hart.h"
#include "arch.h"
#include "internal.h"
#include "system.h"

void fp_clear(void);

#define OTHERS_AT_ONCE 2U /* interrupts other than timer interrupts per poll */

static ulong boot_hartid; /* owner: hart_init() of CPU 0 */

void hart_init(struct cpu *cpu, ulong hartid)
{
    cpu->arch.hartid = hartid;
    cpu->arch.htinst_mask = arch_has(RISCV_FEATURE_HTINST) ? ~0UL : 0;
    if (cpu->id == 0) {
        boot_hartid = hartid;
    }
    csr_write(CSR_HVIP, 0);
    probe_rest_timer(); /* before htimedelta is written */
    hart_guest_csrs();
    csr_set(CSR_SSTATUS, SSTATUS_FS);
    fp_clear();
    arch_vcpu_mask();
    arch_timer_set(TICKS_NEVER);
    csr_write(CSR_SIE, (1UL << IRQ_SSI) | (1UL << IRQ_STI) | (1UL << IRQ_SEI));
}

void timer_set_by_sbi(ticks_t deadline)
{
    sbi_call(SBI_EXT_TIME, SBI_TIME_SET_TIMER, deadline, 0, 0);
}

/* One SBI call for all. Hart numbers are below the number of harts, so they fit one mask. */
void arch_cpus_interrupt(ulong cpus)
{
    ulong harts = 0;

    for (unsigned i = 0; i < hyp.ncpus; i++) {
        if ((cpus & 1UL << i) != 0) {
            harts |= 1UL << cpu_get(i)->arch.hartid;
        }
    }
    sbi_call(SBI_EXT_IPI, SBI_IPI_SEND_IPI, harts, 0, 0);
}

void arch_cpu_breakpoints(bool come)
{
    csr_write(CSR_HEDELEG, come ? HART_HEDELEG & ~(1UL << CAUSE_BREAKPOINT) : HART_HEDELEG);
}

void arch_cpu_sleep(void)
{
    __asm__ volatile("wfi" ::: "memory");
}

/* Harts are numbered from the boot hart on, wrapping around: hart ids of supported boards have no
 * gaps. */
bool arch_cpu_start(unsigned id)
{
    extern char boot_secondary[];
    struct cpu *cpu = cpu_get(id);
    struct hcall_ret ret;

    cpu->arch.hartid = (boot_hartid + id) % hyp.ncpus;
    ret = sbi_call(SBI_EXT_HSM, SBI_HSM_HART_START, cpu->arch.hartid, (ulong)boot_secondary,
                   (ulong)cpu);
    return ret.error == HCALL_OK;
}

/* IRQ_STI from arch_irq_poll() only: the trap handler calls timer_expire() itself. */
static void irq_take(unsigned irq)
{
    switch (irq) {
    case IRQ_STI:
        timer_expire(cpu_self());
        break;
    case IRQ_SSI:
        csr_clear(CSR_SIP, 1UL << IRQ_SSI);
        cpu_ipi_received();
        break;
    default:
        plic_handle();
        break;
    }
}

/* Called from trap.S for an interrupt that stopped a guest: scause without its first bit,
 * shifted left by one. */
void irq_handle(ulong cause);
void irq_handle(ulong cause)
{
    irq_take((unsigned)cause / 2U);
}

/* The first pending interrupt, or 0. */
static unsigned irq_first(void)
{
    ulong pending = csr_read(CSR_SIP) & csr_read(CSR_SIE);

    if ((pending & (1UL << IRQ_STI)) != 0) {
        return IRQ_STI;
    }
    if ((pending & (1UL << IRQ_SSI)) != 0) {
        return IRQ_SSI;
    }
    return pending != 0 ? IRQ_SEI : 0;
}

/* A polling point. Checks the timer again after each interrupt, and handles a bounded number of
 * others, which a device or another hart could raise without end. Stops once the scheduler is to
 * run: the timer interrupt that ended a slice stays pending until the scheduler programs the
 * timer. */
void arch_irq_poll(void)
{
    unsigned left = OTHERS_AT_ONCE;
    unsigned irq = irq_first();

    while (irq == IRQ_STI || (irq != 0 && left-- > 0)) {
        irq_take(irq);
        irq = cpu_self()->flags == 0 ? irq_first() : 0;
    }
}
