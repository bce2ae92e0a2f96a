/* SPDX-License-Identifier: Apache-2.0 */
/* See hold.h. */

#define SAVE_SIZE 112

    .macro callee_registers op
    .irp    n, 0,1,2,3,4,5,6,7,8,9,10,11
    \op     s\n, \n*8(sp)
    .endr
    .endm

    .section .text.hold_integer, "ax", @progbits
    .globl  hold_integer
    .type   hold_integer, @function
hold_integer:
    addi    sp, sp, -SAVE_SIZE
    callee_registers sd
    sd      ra, 96(sp)
    /* x10, x11: seed and end; x5: scratch for comparison; x2, x3 and x4 are reserved */
    .irp    n, 1,6,7,8,9,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    addi    x\n, x10, \n
    .endr
1:  rdtime  x5
    bltu    x5, x11, 1b
    .irp    n, 1,6,7,8,9,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    addi    x5, x10, \n
    beq     x5, x\n, 2f
    li      x10, \n + 1
    j       3f
2:
    .endr
    li      x10, 0
3:  callee_registers ld
    ld      ra, 96(sp)
    addi    sp, sp, SAVE_SIZE
    ret
    .size   hold_integer, . - hold_integer

    .macro fp_callee_registers op
    .irp    n, 0,1,2,3,4,5,6,7,8,9,10,11
    \op     fs\n, \n*8(sp)
    .endr
    .endm

    .section .text.hold_others, "ax", @progbits
    .globl  hold_others
    .type   hold_others, @function
hold_others:
    addi    sp, sp, -SAVE_SIZE
    fp_callee_registers fsd
    .irp    n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    addi    t0, a0, \n
    fmv.d.x f\n, t0
    .endr
1:  rdtime  t0
    bltu    t0, a1, 1b
    .irp    n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    addi    t0, a0, \n
    fmv.x.d t1, f\n
    beq     t0, t1, 2f
    li      a0, \n + 1
    j       3f
2:
    .endr
    li      a0, 0
3:  fp_callee_registers fld
    addi    sp, sp, SAVE_SIZE
    ret
    .size   hold_others, . - hold_others
