/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every kind of instruction for single steps. The steps must arrive at the labels in this order,
 * and never at steps_bad.
 */
#include "hcall_asm.h"

    .section .text.steps, "ax"
    .balign 4
    .globl  debuggee_steps
debuggee_steps:
    mv      t0, ra
    .globl  steps_1, steps_2, steps_3, steps_4, steps_5, steps_6, steps_7, steps_8, steps_9, steps_10
    .globl  steps_11, steps_12, steps_13, steps_14
steps_1:
    beq     a0, a0, steps_2         /* taken */
    j       steps_bad
steps_2:
    bne     a0, a0, steps_bad       /* not taken */
steps_3:
    li      a4, 0                   /* 16 bits */
steps_4:
    c.beqz  a4, steps_5
    j       steps_bad
steps_5:
    c.bnez  a4, steps_bad
steps_6:
    jal     steps_7
    j       steps_bad
steps_7:
    la      t1, steps_9             /* two instructions */
steps_8:
    jalr    t1
steps_bad:
    unimp
steps_9:
    addi    a1, a0, 1
    mv      t2, a1                  /* an SBI call changes a0 and a1 */
    li      a6, HCALL_INFO_GET_ID
    li      a7, HCALL_EXTENSION
steps_10:
    ecall
steps_11:
    la      t1, steps_word
steps_12:
    lr.d    a2, (t1)                /* the sequence must be one step, or sc never succeeds */
    addi    a2, a2, 1
    beqz    a2, steps_14
    sc.d    a3, a2, (t1)
    bnez    a3, steps_12
steps_13:
    mv      a0, t2
steps_14:
    jr      t0

    .section .data.steps, "aw"
    .balign 8
    .globl  steps_word
steps_word:
    .dword  0
