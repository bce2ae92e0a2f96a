/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hold(seed, turns): loads a distinct value into every integer and floating-point register and
 * fcsr, and checks repeatedly that all are unchanged. Returns the number of mismatches.
 */
    .macro saved op
    \op     ra, 0(sp)
    \op     gp, 8(sp)
    \op     tp, 16(sp)
    \op     s0, 24(sp)
    \op     s1, 32(sp)
    .irp    n, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
    \op     s\n, (\n + 3) * 8(sp)
    .endr
    .endm

    /* a0: seed, a1: turns, t0, t1: scratch, t2: mismatches; all others are checked */
    .macro each_held do
    .irp    n, 1, 3, 4, 8, 9, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    \do     \n
    .endr
    .endm

    .macro hold_x n
    addi    x\n, a0, \n * 5
    .endm
    .macro check_x n
    addi    t0, a0, \n * 5
    xor     t0, t0, x\n
    snez    t0, t0
    add     t2, t2, t0
    .endm
    .macro hold_f n
    addi    t0, a0, \n * 3
    fmv.d.x f\n, t0
    .endm
    .macro check_f n
    addi    t0, a0, \n * 3
    fmv.x.d t1, f\n
    xor     t0, t0, t1
    snez    t0, t0
    add     t2, t2, t0
    .endm
    .macro each_float do
    .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    \do     \n
    .endr
    .irp    n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    \do     \n
    .endr
    .endm

    .section .text.hold, "ax", @progbits
    .globl  hold
    .type   hold, @function
hold:
    addi    sp, sp, -128
    saved   sd
    li      t2, 0
    each_float hold_f
    andi    t0, a0, 0x1f            /* flags; rounding mode: to nearest */
    fscsr   t0
    each_held hold_x
1:  each_held check_x
    each_float check_f
    frcsr   t0
    andi    t1, a0, 0x1f
    xor     t0, t0, t1
    snez    t0, t0
    add     t2, t2, t0
    addi    a1, a1, -1
    bnez    a1, 1b
    mv      a0, t2
    saved   ld
    addi    sp, sp, 128
    ret
    .size   hold, . - hold
