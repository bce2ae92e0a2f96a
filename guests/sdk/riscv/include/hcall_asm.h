/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tessera's hypercalls on RISC-V, for C and assembly. A hypercall is an ecall: a7 =
 * HCALL_EXTENSION, a6 = the call number, arguments in a0 to a5. Returns an SBI error in a0 and a
 * value in a1; preserves every other register.
 *
 * In assembly:
 *      hcall HCALL_INFO_GET_ID         # clobbers a6 and a7; a0 = error, a1 = id of this VM
 */
#ifndef GUEST_HCALL_ASM_H
#define GUEST_HCALL_ASM_H

#include "hypercall_abi.h"

#ifdef __ASSEMBLER__

/* clang-format off */
.macro hcall number
    li      a6, \number
    li      a7, HCALL_EXTENSION
    ecall
.endm
/* clang-format on */

#endif
#endif
