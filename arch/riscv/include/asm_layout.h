/* SPDX-License-Identifier: Apache-2.0 */
/* Offsets that assembly uses; layout.c asserts every one against the structures. */
#ifndef ASM_LAYOUT_H
#define ASM_LAYOUT_H

#define VCPU_X(n) (8 * (n))
#define VCPU_STACK VCPU_X(0)
#define VCPU_VM_ID 256
#define VCPU_FCSR 376
#define VCPU_F(n) (384 + 8 * (n))
#define VCPU_TRACE_ID 668

#define CPU_FLAGS 0
#define CPU_CURRENT 8
#define CPU_TRACE 16
#define CPU_HTINST_MASK 24
#define CPU_HARTID 32

#define TRACE_NEXT 16
#define TRACE_END 24
#define TRACE_LAPS 32
#define TRACE_FIRST 40 /* the ring's size: its first event */
#define EVENT_TIME 0
#define EVENT_EXECUTED 8
#define EVENT_WHAT 12
#define EVENT_ARG 16
#define EVENT_SIZE 24

#define BOOT_HARTS 8     /* SYSIMAGE_MAX_HARTS */
#define BOOT_STACKS 8192 /* from one hart's stack to the next, with its guard page */

#define PANIC_STACK 2048 /* hypervisor_panic() and what it prints with */

/* Hypercalls' SBI extension: firmware-specific space, SBI 2.0 section 18; implementation id 0x545353 ("TSS"). */
#define SBI_EXT_HCALL 0x0a545353

/* HCALL_MAX, HCALL_AGAIN, HCALL_ERR_NOT_SUPPORTED */
#define CALLS 64
#define CALL_AGAIN 1
#define CALL_UNKNOWN (-2)

#endif
