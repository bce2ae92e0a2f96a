/* SPDX-License-Identifier: Apache-2.0 */
/* What assembly believes of the structures, asserted. */
#include "asm_layout.h"
#include "cpu.h"
#include "hypercall.h"
#include "sysimage.h"
#include "trace.h"
#include "vcpu.h"

_Static_assert(offsetof(struct vcpu, arch) == 0, "a VCPU's address is its registers' address");
_Static_assert(offsetof(struct arch_vcpu, x) == 0, "x[] first");
_Static_assert(offsetof(struct arch_vcpu, vm_id) == VCPU_VM_ID, "VCPU_VM_ID");
_Static_assert(offsetof(struct arch_vcpu, sepc) == VCPU_SEPC, "VCPU_SEPC");
_Static_assert(offsetof(struct arch_vcpu, sstatus) == VCPU_SSTATUS, "VCPU_SSTATUS");
_Static_assert(offsetof(struct arch_vcpu, vsstatus) == VCPU_VSSTATUS, "VCPU_VSSTATUS");
_Static_assert(offsetof(struct arch_vcpu, vsie) == VCPU_VSIE, "VCPU_VSIE");
_Static_assert(offsetof(struct arch_vcpu, vstvec) == VCPU_VSTVEC, "VCPU_VSTVEC");
_Static_assert(offsetof(struct arch_vcpu, vsscratch) == VCPU_VSSCRATCH, "VCPU_VSSCRATCH");
_Static_assert(offsetof(struct arch_vcpu, vsepc) == VCPU_VSEPC, "VCPU_VSEPC");
_Static_assert(offsetof(struct arch_vcpu, vscause) == VCPU_VSCAUSE, "VCPU_VSCAUSE");
_Static_assert(offsetof(struct arch_vcpu, vstval) == VCPU_VSTVAL, "VCPU_VSTVAL");
_Static_assert(offsetof(struct arch_vcpu, vsatp) == VCPU_VSATP, "VCPU_VSATP");
_Static_assert(offsetof(struct arch_vcpu, hvip) == VCPU_HVIP, "VCPU_HVIP");
_Static_assert(offsetof(struct arch_vcpu, scounteren) == VCPU_SCOUNTEREN, "VCPU_SCOUNTEREN");
_Static_assert(offsetof(struct arch_vcpu, senvcfg) == VCPU_SENVCFG, "VCPU_SENVCFG");
_Static_assert(offsetof(struct arch_vcpu, vstimecmp) == VCPU_VSTIMECMP, "VCPU_VSTIMECMP");
_Static_assert(offsetof(struct arch_vcpu, hgatp) == VCPU_HGATP, "VCPU_HGATP");
_Static_assert(offsetof(struct arch_vcpu, fcsr) == VCPU_FCSR, "VCPU_FCSR");
_Static_assert(offsetof(struct arch_vcpu, fp) == VCPU_FP, "VCPU_FP");
_Static_assert(offsetof(struct arch_vcpu, f) == VCPU_F(0), "VCPU_F");
_Static_assert(offsetof(struct vcpu, trace_id) == VCPU_TRACE_ID, "VCPU_TRACE_ID");
_Static_assert(offsetof(struct vcpu, last_cpu) == VCPU_LAST_CPU, "VCPU_LAST_CPU");
_Static_assert(offsetof(struct vcpu, pending) == VCPU_PENDING, "VCPU_PENDING");
_Static_assert(offsetof(struct cpu, flags) == CPU_FLAGS, "CPU_FLAGS");
_Static_assert(offsetof(struct cpu, current) == CPU_CURRENT, "CPU_CURRENT");
_Static_assert(offsetof(struct cpu, trace) == CPU_TRACE, "CPU_TRACE");
_Static_assert(offsetof(struct cpu, loaded) == CPU_LOADED, "CPU_LOADED");
_Static_assert(offsetof(struct cpu, arch.fp) == CPU_FP, "CPU_FP");
_Static_assert(offsetof(struct cpu, arch.htinst_mask) == CPU_HTINST_MASK, "CPU_HTINST_MASK");
_Static_assert(offsetof(struct cpu, arch.hartid) == CPU_HARTID, "CPU_HARTID");
_Static_assert(offsetof(struct trace_ring, next) == TRACE_NEXT, "TRACE_NEXT");
_Static_assert(offsetof(struct trace_ring, end) == TRACE_END, "TRACE_END");
_Static_assert(offsetof(struct trace_ring, laps) == TRACE_LAPS, "TRACE_LAPS");
_Static_assert(sizeof(struct trace_ring) == TRACE_FIRST, "TRACE_FIRST");
_Static_assert(offsetof(struct trace_event, time) == EVENT_TIME, "EVENT_TIME");
_Static_assert(offsetof(struct trace_event, executed) == EVENT_EXECUTED, "EVENT_EXECUTED");
_Static_assert(offsetof(struct trace_event, what) == EVENT_WHAT, "EVENT_WHAT");
_Static_assert(offsetof(struct trace_event, arg) == EVENT_ARG, "EVENT_ARG");
_Static_assert(sizeof(struct trace_event) == EVENT_SIZE, "EVENT_SIZE");
_Static_assert(BOOT_HARTS == SYSIMAGE_MAX_HARTS && BOOT_STACKS == 2 * HART_STACK_SIZE, "stacks of the harts");
_Static_assert(sizeof(struct cpu) <= HART_CPU_SIZE, "struct cpu fits above the stack");
_Static_assert(PANIC_PAGE == HART_STACK_SIZE && PANIC_STACK == HART_STACK_SIZE - HART_CPU_SIZE,
               "cpu_self() in a panic");
_Static_assert(HART_CPU_SIZE % 16 == 0, "the stack below it is aligned");
_Static_assert(HCALL_MAX == CALLS && HCALL_AGAIN == CALL_AGAIN && HCALL_ERR_NOT_SUPPORTED == CALL_UNKNOWN, "calls");
