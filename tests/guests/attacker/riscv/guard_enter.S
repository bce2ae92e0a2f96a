/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard_enter(entry, a0, a1, user): calls `entry` in supervisor or user mode. Returns when `entry`
 * returns or executes sret, or when the trap handler resumes at guard_resume. Returns the final a0.
 */
#include "csr.h"

#define FRAME (16 * 8)

    .macro callee_saved op
    \op     ra, 0(sp)
    \op     s0, 8(sp)
    \op     s1, 16(sp)
    .irp    n, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
    \op     s\n, (\n + 1) * 8(sp)
    .endr
    \op     gp, 104(sp)
    \op     tp, 112(sp)
    .endm

    .section .text.guard_enter, "ax", @progbits
    .globl  guard_enter
    .type   guard_enter, @function
guard_enter:
    addi    sp, sp, -FRAME
    callee_saved sd
    la      t0, guard_stack
    sd      sp, 0(t0)
    li      a7, 0x12345678          /* unknown extension, for an ecall in `entry` */
    mv      t2, a0
    mv      a0, a1
    mv      a1, a2
    li      t0, SSTATUS_SPP
    bnez    a3, 1f
    csrs    sstatus, t0
    la      t1, guard_resume
    csrw    sepc, t1
    jalr    t2
    j       guard_resume
1:  csrc    sstatus, t0
    csrw    sepc, t2
    sret
    .globl  guard_resume
    .balign 4
guard_resume:
    la      t0, guard_stack
    ld      sp, 0(t0)
    callee_saved ld
    addi    sp, sp, FRAME
    ret
    .size   guard_enter, . - guard_enter

    .section .bss.guard_stack, "aw", @nobits
    .balign 8
guard_stack:                        /* owner: guard_enter, hart 0 */
    .skip   8
