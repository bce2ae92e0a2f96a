/* SPDX-License-Identifier: Apache-2.0 */
/* Offsets that assembly uses; layout.c asserts every one against the structures. */
#ifndef ASM_LAYOUT_H
#define ASM_LAYOUT_H

#define VCPU_X(n) (8 * (n))
#define VCPU_STACK VCPU_X(0)
#define VCPU_VM_ID 256
#define VCPU_SEPC 264
#define VCPU_SSTATUS 272
#define VCPU_VSSTATUS 280
#define VCPU_VSIE 288
#define VCPU_VSTVEC 296
#define VCPU_VSSCRATCH 304
#define VCPU_VSEPC 312
#define VCPU_VSCAUSE 320
#define VCPU_VSTVAL 328
#define VCPU_VSATP 336
#define VCPU_HVIP 344
#define VCPU_SCOUNTEREN 352
#define VCPU_SENVCFG 360
#define VCPU_VSTIMECMP 368
#define VCPU_HGATP 376
#define VCPU_FCSR 384
#define VCPU_FP 392
#define VCPU_F(n) (400 + 8 * (n))
#define VCPU_TRACE_ID 676
#define VCPU_LAST_CPU 768
#define VCPU_PENDING 784

#define CPU_FLAGS 0
#define CPU_CURRENT 8
#define CPU_TRACE 16
#define CPU_LOADED 24
#define CPU_HTINST_MASK 32
#define CPU_HARTID 40
#define CPU_FP 48

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

#define PANIC_PAGE 4096
#define PANIC_STACK (PANIC_PAGE - 256) /* below a struct cpu of its own, as a hart's stack is: HART_CPU_SIZE */

/* Hypercalls' SBI extension: firmware-specific space, SBI 2.0 section 18; implementation id 0x545353 ("TSS"). */
#define SBI_EXT_HCALL 0x0a545353

/* HCALL_MAX, HCALL_AGAIN, HCALL_ERR_NOT_SUPPORTED */
#define CALLS 64
#define CALL_AGAIN 1
#define CALL_UNKNOWN (-2)

#endif
