/* SPDX-License-Identifier: Apache-2.0 */
/* See hold.h. */

#define SAVE_SIZE 48

    .set    noreorder
    .set    noat

    .macro callee_registers op
    .irp    n, 16,17,18,19,20,21,22,23
    \op     $\n, 4*(\n - 16)($29)
    .endr
    \op     $28, 32($29)
    \op     $30, 36($29)
    \op     $31, 40($29)
    .endm

    /*
     * Spins until Count reaches $5; changes $8. Reads Count rarely, because that may be slow in a
     * VM.
     */
    .macro hold
1:  li      $8, 100
2:  bnez    $8, 2b
    addiu   $8, $8, -1
    mfc0    $8, $9
    subu    $8, $8, $5
    bltz    $8, 1b
    nop
    .endm

    .section .text.hold_integer, "ax", @progbits
    .globl  hold_integer
    .type   hold_integer, @function
hold_integer:
    addiu   $29, $29, -SAVE_SIZE
    callee_registers sw
    /* $4, $5: seed and end; $8: scratch for comparison; $26, $27 and $29 are reserved */
    .irp    n, 1,2,3,6,7,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,28,30,31
    addiu   $\n, $4, \n
    .endr
    hold
    addiu   $8, $4, 2
    bne     $8, $2, 3f
    li      $2, 2 + 1           /* $2 is compared first: it becomes the return value */
    .irp    n, 1,3,6,7,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,28,30,31
    addiu   $8, $4, \n
    bne     $8, $\n, 3f
    li      $2, \n + 1
    .endr
    move    $2, $0
3:  callee_registers lw
    jr      $31
    addiu   $29, $29, SAVE_SIZE
    .size   hold_integer, . - hold_integer

    .section .text.hold_others, "ax", @progbits
    .globl  hold_others
    .type   hold_others, @function
hold_others:
    addiu   $9, $4, 1
    addiu   $10, $4, 2
    mtlo    $9
    mthi    $10
    hold
    mflo    $11
    mfhi    $12
    li      $2, 2
    bne     $9, $11, 2f
    nop
    li      $2, 3
    bne     $10, $12, 2f
    nop
    move    $2, $0
2:  jr      $31
    nop
    .size   hold_others, . - hold_others
