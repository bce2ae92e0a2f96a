/* SPDX-License-Identifier: Apache-2.0 */
/* Offsets that assembly uses; layout.c asserts every one against the structures. */
#ifndef ASM_LAYOUT_H
#define ASM_LAYOUT_H

#define VCPU_GPR(n) (4 * (n))
#define VCPU_VM_ID 128
#define VCPU_PC 132
#define VCPU_HI 136
#define VCPU_LO 140
#define VCPU_STATUS 144
#define VCPU_CAUSE 148
#define VCPU_EPC 152
#define VCPU_ERROR_EPC 156
#define VCPU_EBASE 160
#define VCPU_BADVADDR 164
#define VCPU_BADINSTR 168
#define VCPU_BADINSTRP 172
#define VCPU_NESTED_EXC 176
#define VCPU_NESTED_EPC 180
#define VCPU_COMPARE 184
#define VCPU_COUNT 188
#define VCPU_GUESTCTL2 192
#define VCPU_GTOFFSET 196
#define VCPU_GUESTCTL0 200
#define VCPU_GUESTCTL0EXT 204
#define VCPU_GUESTCTL1 208
#define VCPU_SRSCTL 212
#define VCPU_BANK 216
#define VCPU_LONG_WAY 220
#define VCPU_LAST_CPU 624
#define VCPU_PENDING 632

/* A message in VCPU_PENDING, and in the guest's Cause: software interrupt 1. */
#define VCPU_MESSAGE 0x2
#define CAUSE_MESSAGE 0x200

/* The GuestID that is no VM's: link.S's. */
#define GUEST_ID_LINK 7

#define CPU_FLAGS 0
#define CPU_CURRENT 4
#define CPU_LOADED 12

/* The hypervisor's stack. */
#define STACK_SIZE 2048

/* HCALL_MAX, HCALL_AGAIN, HCALL_ERR_NOT_SUPPORTED */
#define CALLS 64
#define CALL_AGAIN 1
#define CALL_UNKNOWN (-2)

/* Codes of the HYPCALL instruction. */
#define HYPCALL_CALL 0 /* a hypercall, whose number is in $v0 */
#define HYPCALL_END 1  /* the VM ends or begins anew */
#define HYPCALL_LINK 2 /* link.S's own */

#endif
