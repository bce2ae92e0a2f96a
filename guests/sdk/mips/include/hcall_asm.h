/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tessera's hypercalls on MIPS32, for assembly: HYPCALL with the call number in $v0 and arguments
 * in $a0 to $a3, $t0, $t1. Returns an SBI error in $v0 and a value in $v1; preserves every other
 * register. HYPCALL 1 ends the VM.
 *
 *      hcall HCALL_INFO_GET_ID         # $v0 = error, $v1 = id of this VM
 */
#ifndef GUEST_HCALL_ASM_H
#define GUEST_HCALL_ASM_H

#include "hypercall_abi.h"

#ifdef __ASSEMBLER__

/* clang-format off */
.macro hcall number
    .set    push
    .set    virt
    li      $2, \number
    hypcall
    .set    pop
.endm
/* clang-format on */

#endif
#endif
