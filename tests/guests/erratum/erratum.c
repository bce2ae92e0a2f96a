/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes CSRs of the hypervisor on a machine that executes such a write although it traps (CVA6's
 * erratum 3398), and reports what the write has changed. Its guest-physical addresses are
 * host-physical ones, so that it can make second-stage tables of its own. The steps that end or
 * hang the guest where the hypervisor has no remedy come last.
 */
#include <stdbool.h>
#include <stdint.h>

#include "csr.h"
#include "print.h"
#include "trap.h"

int main(unsigned long hart, const void *fdt);

#define HYPERVISOR 0x80200000UL
#define RAM 0x80000000UL
#define PAGE_ALL 0xdfUL /* valid, read, write, execute, user, accessed, dirty */
#define GIB_SHIFT 30
#define HGATP_SV39X4 (8UL << 60)
#define HGATP_VMID (1UL << 44)
#define HSTATUS_VTSR (1UL << 22)
#define HSTATUS_VTVM (1UL << 20)
#define PATIENCE 1000U

/* csrw csr, a0: tests/e2e/erratum_csr_write/exit_trap.c looks for this form. */
#define WRITE_CSR(csr, value) \
    __asm__ volatile("mv a0, %0\n\tcsrw " #csr ", a0" : : "r"(value) : "a0", "memory")

static uint64_t tables[2048] __attribute__((aligned(16384)));
static volatile unsigned traps, interrupts;

static bool skip(struct trap_frame *frame, uint64_t cause, uint64_t stval)
{
    (void)cause, (void)stval;
    traps++;
    frame->sepc += trap_instruction_length(frame->sepc);
    return true;
}

static void soft(void)
{
    csr_clear_sip(SIE_SOFT);
    interrupts++;
}

/* Of no source of the interrupt controller, so it would never end. */
static void external(void)
{
    csr_clear_sie(SIE_EXTERNAL);
    interrupts++;
}

static void report(const char *csr, bool changed)
{
    print("erratum: %s %s\n", csr, changed ? "changed" : "kept");
}

/* Whether an instruction of `use` traps after the write; each write itself traps once. */
#define TRAPS_AFTER(csr, value, use) \
    __extension__({                  \
        unsigned before = traps;     \
        WRITE_CSR(csr, value);       \
        use;                         \
        traps - before != 1;         \
    })

static void harmless(void)
{
    if (trap_probe_stimecmp()) {
        trap_set_exception(skip);
        report("henvcfg", TRAPS_AFTER(0x60a, 0UL, csr_read_stimecmp()));
    }
    trap_set_exception(skip);
    report("hcounteren", TRAPS_AFTER(0x606, 0UL, csr_read_time()));
}

/* Lets interrupts come for a while, and tells whether one has. */
static bool interrupted(uint64_t sie)
{
    interrupts = 0;
    csr_write_sie(sie);
    csr_set_sstatus(SSTATUS_SIE);
    for (unsigned i = 0; i < PATIENCE && interrupts == 0; i++) {
        __asm__ volatile("" : : : "memory");
    }
    csr_clear_sstatus(SSTATUS_SIE);
    return interrupts != 0;
}

static void raise_own_interrupt(void)
{
    trap_set_interrupt(IRQ_EXTERNAL, external);
    WRITE_CSR(0x645, SIE_EXTERNAL << 1);
    report("hvip", interrupted(SIE_EXTERNAL));
}

/* The first word of the hypervisor; its value is not used if the access traps. */
static uint64_t look(void)
{
    return *(volatile const uint64_t *)HYPERVISOR;
}

/* With tables of its own the guest reads the hypervisor; otherwise there is no memory. */
static void read_hypervisor(void)
{
    bool refused;

    tables[RAM >> GIB_SHIFT] = (RAM >> 2) | PAGE_ALL;
    refused = TRAPS_AFTER(0x680, HGATP_SV39X4 | HGATP_VMID | (uintptr_t)tables >> 12, (void)look());
    report("hgatp", !refused);
    if (refused) {
        print("erratum: the hypervisor's memory: refused\n");
    } else {
        print("erratum: the hypervisor's memory: read 0x%lx\n", look());
    }
}

static void fatal_without_remedy(void)
{
    trap_set_interrupt(IRQ_SOFT, soft);
    WRITE_CSR(0x603, 0UL);
    WRITE_CSR(0x604, 0UL);
    csr_set_sip(SIE_SOFT);
    report("hideleg", !interrupted(SIE_SOFT));
    report("hstatus",
           TRAPS_AFTER(0x600, HSTATUS_VTSR | HSTATUS_VTVM, __asm__ volatile("sfence.vma")));
    report("hedeleg", TRAPS_AFTER(0x602, 0UL, __asm__ volatile(".4byte 0")) == false);
}

static void __attribute__((noreturn)) user(void)
{
    WRITE_CSR(0x680, 0UL);
    print("erratum: continues\n");
    for (;;) {
    }
}

int main(unsigned long hart, const void *fdt)
{
    (void)hart, (void)fdt;
    trap_set_exception(skip);
    csr_write_sie(SIE_SOFT | SIE_TIMER);
    harmless();
    report("sie", csr_read_sie() != (SIE_SOFT | SIE_TIMER));
    raise_own_interrupt();
    read_hypervisor();
    fatal_without_remedy();
    print("erratum: writes from user mode\n");
    csr_clear_sstatus(SSTATUS_SPP);
    __asm__ volatile("csrw sepc, %0\n\tsret" : : "r"(user) : "memory");
    return 0;
}
