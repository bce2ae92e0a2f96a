/* SPDX-License-Identifier: Apache-2.0 */
/* Constants shared by assembly and C of arch/riscv, in addition to the generated asm_offsets.h.
 * layout.c checks those that depend on structures. */
#ifndef ASM_LAYOUT_H
#define ASM_LAYOUT_H

/* struct arch_vcpu starts with the general registers, and struct vcpu with struct arch_vcpu. The
 * slot of x0 holds the stack pointer of the VCPU's hart. VCPU_F0 is in asm_offsets.h. */
#define VCPU_X(n) (8 * (n))
#define VCPU_STACK VCPU_X(0)
#define VCPU_F(n) (VCPU_F0 + 8 * (n))

#endif
