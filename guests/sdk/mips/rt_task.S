/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entry point of an RT app: $a0 = its id, $a1 = its struct rt_task (job, argument), $sp = its
 * stack, guest-physical.
 */
#include "entry_asm.h"
#include "hcall_asm.h"
#include "rt_abi.h"

    .set    noreorder
    .set    noat

    .section .text.rt_task_entry, "ax", @progbits
    .globl  rt_task_entry
    .type   rt_task_entry, @function
rt_task_entry:
    enter_c
    lui     $8, 0x8000          /* KSEG0 */
    or      $29, $29, $8
    addiu   $29, $29, -16       /* argument area of the callee (o32) */
    move    $16, $5
1:  lw      $25, 0($16)
    jalr    $25
    lw      $4, 4($16)
    hcall   HCALL_RT_END_JOB
    b       1b
    nop
    .size   rt_task_entry, . - rt_task_entry
