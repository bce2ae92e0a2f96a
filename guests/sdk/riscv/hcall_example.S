/* SPDX-License-Identifier: Apache-2.0 */
/* Example of a hypercall in assembly. */
#include "hcall_asm.h"

    .section .text.hcall_get_id_asm, "ax", @progbits
    .globl  hcall_get_id_asm
    .type   hcall_get_id_asm, @function
hcall_get_id_asm:
    hcall   HCALL_INFO_GET_ID
    bnez    a0, 1f              /* an error: return it */
    mv      a0, a1
1:  ret
    .size   hcall_get_id_asm, . - hcall_get_id_asm
