/* SPDX-License-Identifier: Apache-2.0 */
/* Constants shared by assembly and C, in addition to the generated asm_offsets.h. */
#ifndef ASM_LAYOUT_H
#define ASM_LAYOUT_H

/* struct arch_vcpu starts with the general registers, and struct vcpu with struct arch_vcpu. */
#define VCPU_GPR(n) (4 * (n))

/* GuestID reserved for link.S. */
#define GUEST_ID_LINK 7

/* The hypervisor's stack. */
#define STACK_SIZE 2048

/* Codes of the HYPCALL instruction. */
#define HYPCALL_CALL 0 /* a hypercall; its number is in $v0 */
#define HYPCALL_END 1  /* shuts down or resets the VM */
#define HYPCALL_LINK 2 /* used by link.S only */

#endif
