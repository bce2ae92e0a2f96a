/* SPDX-License-Identifier: Apache-2.0 */
/* Offsets and constants that assembly sources take from C, as asm_offsets.h, which the build makes
 * of this file's assembly output (asm_offset.h). Never linked. */
#include "asm_offset.h"
#include "cp0.h"
#include "cpu.h"
#include "hypercall.h"
#include "vcpu.h"

#define VCPU_ARCH(name, member) ASM_OFFSET(name, struct arch_vcpu, member)

static void __attribute__((used)) vcpu_offsets(void)
{
    VCPU_ARCH(VCPU_PC, pc);
    VCPU_ARCH(VCPU_HI, hi);
    VCPU_ARCH(VCPU_LO, lo);
    VCPU_ARCH(VCPU_STATUS, status);
    VCPU_ARCH(VCPU_CAUSE, cause);
    VCPU_ARCH(VCPU_EPC, epc);
    VCPU_ARCH(VCPU_ERROR_EPC, error_epc);
    VCPU_ARCH(VCPU_EBASE, ebase);
    VCPU_ARCH(VCPU_BADVADDR, badvaddr);
    VCPU_ARCH(VCPU_BADINSTR, badinstr);
    VCPU_ARCH(VCPU_BADINSTRP, badinstrp);
    VCPU_ARCH(VCPU_NESTED_EXC, nested_exc);
    VCPU_ARCH(VCPU_NESTED_EPC, nested_epc);
    VCPU_ARCH(VCPU_COMPARE, compare);
    VCPU_ARCH(VCPU_COUNT, count);
    VCPU_ARCH(VCPU_GUESTCTL2, guestctl2);
    VCPU_ARCH(VCPU_GTOFFSET, gtoffset);
    VCPU_ARCH(VCPU_GUESTCTL0, guestctl0);
    VCPU_ARCH(VCPU_GUESTCTL1, guestctl1);
    VCPU_ARCH(VCPU_SRSCTL, srsctl);
    VCPU_ARCH(VCPU_BANK, bank);
    VCPU_ARCH(VCPU_LAZY, lazy);
    ASM_OFFSET(VCPU_LAST_CPU, struct vcpu, last_cpu);
    ASM_OFFSET(VCPU_PENDING, struct vcpu, pending);
}

static void __attribute__((used)) cpu_offsets(void)
{
    ASM_OFFSET(CPU_FLAGS, struct cpu, flags);
    ASM_OFFSET(CPU_CURRENT, struct cpu, current);
    ASM_OFFSET(CPU_LOADED, struct cpu, loaded);
}

static void __attribute__((used)) constants(void)
{
    /* A message in VCPU_PENDING, and in the guest's Cause: software interrupt 1. */
    ASM_CONSTANT(ARCH_VIRQ_MESSAGE);
    ASM_VALUE("CAUSE_MESSAGE", STATUS_IP(VIRQ_MESSAGE_LINE));
    ASM_CONSTANT(HCALL_AGAIN);
}
