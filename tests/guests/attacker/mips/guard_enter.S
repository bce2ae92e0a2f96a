/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard_enter(entry, a0, a1, user): calls `entry` in kernel or user mode. Returns when `entry`
 * returns, or when the exception handler resumes at guard_resume. Returns the final $a0.
 */
#include "cp0.h"

    .set    noreorder
    .set    noat

    .macro callee_saved op
    .irp    n, 16,17,18,19,20,21,22,23
    \op     $\n, 16 + 4*(\n - 16)($29)
    .endr
    \op     $28, 48($29)
    \op     $30, 52($29)
    \op     $31, 56($29)
    .endm

    .section .text.guard_enter, "ax", @progbits
    .globl  guard_enter
    .type   guard_enter, @function
guard_enter:
    addiu   $29, $29, -64
    callee_saved sw
    lui     $8, %hi(guard_stack)
    sw      $29, %lo(guard_stack)($8)
    move    $25, $4
    move    $4, $5
    move    $5, $6
    bnez    $7, 1f
    li      $2, 63              /* number of no hypercall, for a HYPCALL in `entry` */
    jalr    $25
    nop
    b       2f
    move    $2, $4
1:  mfc0    $8, $12
    ori     $8, $8, STATUS_UM | STATUS_EXL
    mtc0    $8, $12
    ehb
    mtc0    $25, $14
    ehb
    eret
    .globl  guard_resume
guard_resume:                   /* $v0 is the final $a0 (guard.c) */
    lui     $8, %hi(guard_stack)
    lw      $29, %lo(guard_stack)($8)
2:  callee_saved lw
    jr      $31
    addiu   $29, $29, 64
    .size   guard_enter, . - guard_enter

    .section .bss.guard_stack, "aw", @nobits
    .balign 4
guard_stack:                    /* owner: guard_enter */
    .skip   4
