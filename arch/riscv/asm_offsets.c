/* SPDX-License-Identifier: Apache-2.0 */
/* Offsets and constants that assembly sources take from C, as asm_offsets.h, which the build makes
 * of this file's assembly output (asm_offset.h). Never linked. */
#include "asm_offset.h"
#include "cpu.h"
#include "hypercall.h"
#include "sysimage.h"
#include "trace.h"
#include "vcpu.h"

#define VCPU_ARCH(name, member) ASM_OFFSET(name, struct arch_vcpu, member)

static void __attribute__((used)) vcpu_offsets(void)
{
    VCPU_ARCH(VCPU_SEPC, sepc);
    VCPU_ARCH(VCPU_SSTATUS, sstatus);
    VCPU_ARCH(VCPU_VSSTATUS, vsstatus);
    VCPU_ARCH(VCPU_VSIE, vsie);
    VCPU_ARCH(VCPU_VSTVEC, vstvec);
    VCPU_ARCH(VCPU_VSSCRATCH, vsscratch);
    VCPU_ARCH(VCPU_VSEPC, vsepc);
    VCPU_ARCH(VCPU_VSCAUSE, vscause);
    VCPU_ARCH(VCPU_VSTVAL, vstval);
    VCPU_ARCH(VCPU_VSATP, vsatp);
    VCPU_ARCH(VCPU_HVIP, hvip);
    VCPU_ARCH(VCPU_SCOUNTEREN, scounteren);
    VCPU_ARCH(VCPU_SENVCFG, senvcfg);
    VCPU_ARCH(VCPU_VSTIMECMP, vstimecmp);
    VCPU_ARCH(VCPU_HGATP, hgatp);
    VCPU_ARCH(VCPU_FCSR, fcsr);
    VCPU_ARCH(VCPU_FP, fp);
    VCPU_ARCH(VCPU_F0, f);
    ASM_OFFSET(VCPU_TRACE_ID, struct vcpu, trace_id);
    ASM_OFFSET(VCPU_LAST_CPU, struct vcpu, last_cpu);
    ASM_OFFSET(VCPU_PENDING, struct vcpu, pending);
}

static void __attribute__((used)) cpu_offsets(void)
{
    ASM_OFFSET(CPU_FLAGS, struct cpu, flags);
    ASM_OFFSET(CPU_CURRENT, struct cpu, current);
    ASM_OFFSET(CPU_TRACE, struct cpu, trace);
    ASM_OFFSET(CPU_LOADED, struct cpu, loaded);
    ASM_OFFSET(CPU_FP, struct cpu, arch.fp);
    ASM_OFFSET(CPU_HTINST_MASK, struct cpu, arch.htinst_mask);
    ASM_OFFSET(CPU_HARTID, struct cpu, arch.hartid);
}

static void __attribute__((used)) facts_offsets(void)
{
    ASM_OFFSET(FACTS_ENVCFG, struct riscv_facts, envcfg);
}

static void __attribute__((used)) trace_offsets(void)
{
    ASM_OFFSET(TRACE_NEXT, struct trace_ring, next);
    ASM_OFFSET(TRACE_END, struct trace_ring, end);
    ASM_OFFSET(TRACE_LAPS, struct trace_ring, laps);
    ASM_SIZE(TRACE_FIRST, struct trace_ring); /* the first event */
    ASM_OFFSET(EVENT_TIME, struct trace_event, time);
    ASM_OFFSET(EVENT_EXECUTED, struct trace_event, executed);
    ASM_OFFSET(EVENT_WHAT, struct trace_event, what);
    ASM_OFFSET(EVENT_ARG, struct trace_event, arg);
    ASM_SIZE(EVENT_SIZE, struct trace_event);
}

static void __attribute__((used)) constants(void)
{
    ASM_CONSTANT(SYSIMAGE_MAX_HARTS);
    ASM_CONSTANT(HART_STACK_SIZE);
    ASM_CONSTANT(HART_CPU_SIZE);
    ASM_CONSTANT(HART_SIZE);
    ASM_CONSTANT(HCALL_AGAIN);
}
