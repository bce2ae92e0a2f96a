/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trap handler of a spin, when every register, sp and sscratch too, holds a value that is to be found again. It is
 * wherever stvec has to be random, and has the page at address 0 to put things in. An interrupt is disabled, which ends
 * it; behind an exception, of an instruction of four bytes, it goes on.
 */
#include "page.h"

    .section .rodata.leak_handler, "a"
    .globl  leak_handler, leak_handler_end
    .balign 4
    .option push
    .option norvc
leak_handler:
    sd      t0, PAGE_T0(zero)
    sd      t1, PAGE_T1(zero)
    ld      t0, PAGE_TRAPS(zero)
    addi    t0, t0, 1
    sd      t0, PAGE_TRAPS(zero)
    csrr    t0, stval
    sd      t0, PAGE_TVAL(zero)
    csrr    t0, scause
    sd      t0, PAGE_CAUSE(zero)
    csrr    t1, sepc
    bltz    t0, 1f
    addi    t1, t1, 4
    csrw    sepc, t1
    j       2f
1:  li      t1, 1
    sll     t1, t1, t0              /* by its lowest six bits */
    csrc    sie, t1
    ld      t0, PAGE_FIRED(zero)
    or      t0, t0, t1
    sd      t0, PAGE_FIRED(zero)
    csrr    t1, sepc
2:  sd      t1, PAGE_EPC(zero)
    ld      t0, PAGE_T0(zero)
    ld      t1, PAGE_T1(zero)
    sret
leak_handler_end:
    .option pop
