/* SPDX-License-Identifier: Apache-2.0 */
/* Constants shared by assembly and C of arch/mips, in addition to the generated asm_offsets.h.
 * layout.c checks those that depend on structures. */
#ifndef ASM_LAYOUT_H
#define ASM_LAYOUT_H

/* struct arch_vcpu starts with the general registers, and struct vcpu with struct arch_vcpu. */
#define VCPU_GPR(n) (4 * (n))

/* GuestID reserved for link_clear (switch.S), which also uses the value as Status: IE, EXL, ERL. */
#define GUEST_ID_LINK 7

/* Offset of link_clear's guest code in the page of the vectors (trap.S). */
#define LINK_STUB 0x108

/* Where that code jumps to: in kseg0, and no memory of link_clear's guest. */
#define LINK_END 0x90000000

/* The hypervisor's stack. */
#define STACK_SIZE 2048

/* Codes of the HYPCALL instruction. */
#define HYPCALL_CALL 0 /* a hypercall; its number is in $v0 */
#define HYPCALL_END 1  /* shuts down or resets the VM */

#endif
