/* SPDX-License-Identifier: Apache-2.0 */
/* Example of a hypercall in assembly. */
#include "hcall_asm.h"

    .set    noreorder

    .section .text.hcall_get_id_asm, "ax", @progbits
    .globl  hcall_get_id_asm
    .type   hcall_get_id_asm, @function
hcall_get_id_asm:
    hcall   HCALL_INFO_GET_ID
    jr      $31
    movz    $2, $3, $2          /* keep an error, otherwise return the id */
    .size   hcall_get_id_asm, . - hcall_get_id_asm
