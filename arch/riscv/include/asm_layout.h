/* SPDX-License-Identifier: Apache-2.0 */
/* What assembly and C sources share beside the generated asm_offsets.h. */
#ifndef ASM_LAYOUT_H
#define ASM_LAYOUT_H

/* struct arch_vcpu begins with the general registers, and a VCPU's address is theirs; x0's place holds the stack of the
 * VCPU's hart. VCPU_F0 is asm_offsets.h's. */
#define VCPU_X(n) (8 * (n))
#define VCPU_STACK VCPU_X(0)
#define VCPU_F(n) (VCPU_F0 + 8 * (n))

/* Hypercalls' SBI extension: firmware-specific space, SBI 2.0 section 18; implementation id 0x545353 ("TSS"). */
#define SBI_EXT_HCALL 0x0a545353

#endif
