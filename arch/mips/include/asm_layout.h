/* SPDX-License-Identifier: Apache-2.0 */
/* What assembly and C sources share beside the generated asm_offsets.h. */
#ifndef ASM_LAYOUT_H
#define ASM_LAYOUT_H

/* struct arch_vcpu begins with the general registers, and a VCPU's address is theirs. */
#define VCPU_GPR(n) (4 * (n))

/* The GuestID that is no VM's: link.S's. */
#define GUEST_ID_LINK 7

/* The hypervisor's stack. */
#define STACK_SIZE 2048

/* Codes of the HYPCALL instruction. */
#define HYPCALL_CALL 0 /* a hypercall, whose number is in $v0 */
#define HYPCALL_END 1  /* the VM ends or begins anew */
#define HYPCALL_LINK 2 /* link.S's own */

#endif
