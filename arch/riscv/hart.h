/* SPDX-License-Identifier: Apache-2.0 */
/* The CSRs of the H extension that have the same values for all guests. hart.c writes them at boot;
 * an erratum's file writes them again. */
#ifndef HART_H
#define HART_H

#include "arch.h"
#include "csr.h"
#include "internal.h"

/* Delegates to guests their own interrupts and all exceptions that concern only the guest. */
#define HART_HIDELEG ((1UL << IRQ_VSSI) | (1UL << IRQ_VSTI) | (1UL << IRQ_VSEI))
#define HART_HEDELEG                                                                           \
    ((1UL << CAUSE_FETCH_MISALIGNED) | (1UL << CAUSE_FETCH_ACCESS) | (1UL << CAUSE_ILLEGAL) |  \
     (1UL << CAUSE_BREAKPOINT) | (1UL << CAUSE_LOAD_MISALIGNED) | (1UL << CAUSE_LOAD_ACCESS) | \
     (1UL << CAUSE_STORE_MISALIGNED) | (1UL << CAUSE_STORE_ACCESS) | (1UL << CAUSE_ECALL_U) |  \
     (1UL << CAUSE_FETCH_PAGE) | (1UL << CAUSE_LOAD_PAGE) | (1UL << CAUSE_STORE_PAGE))

/* Writes the CSRs of the H extension that have the same values for all guests. Inline: a function
 * costs 20 bytes where there is one caller. */
static inline void hart_guest_csrs(void)
{
    csr_write(CSR_HSTATUS, HSTATUS_VSXL_64 | HSTATUS_SPV | HSTATUS_SPVP | HSTATUS_VTW);
    csr_write(CSR_HIDELEG, HART_HIDELEG);
    csr_write(CSR_HEDELEG, HART_HEDELEG);
    csr_write(CSR_HCOUNTEREN, HCOUNTEREN_CY | HCOUNTEREN_TM | HCOUNTEREN_IR);
    csr_write(CSR_HGEIE, 0);
    if (arch_has(RISCV_FEATURE_HTIMEDELTA)) {
        csr_write(CSR_HTIMEDELTA, 0); /* all VMs see the same time */
    }
    if (riscv_facts.envcfg) {
        csr_write(CSR_HENVCFG,
                  (riscv_facts.sstc ? HENVCFG_STCE : 0) |
                      (arch_has(RISCV_FEATURE_SVPBMT) ? HENVCFG_PBMTE : 0) |
                      (arch_has(RISCV_FEATURE_ZICBOZ) ? HENVCFG_CBZE : 0) |
                      (arch_has(RISCV_FEATURE_ZICBOM) ? HENVCFG_CBCFE | HENVCFG_CBIE : 0) |
                      (arch_has(RISCV_FEATURE_SVADU) ? HENVCFG_ADUE : 0));
    }
    probe_allow_senvcfg();
}

#endif
