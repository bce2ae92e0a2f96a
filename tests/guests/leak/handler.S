/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trap handler of a spin. Every register, including sp and sscratch, holds a value that must be
 * preserved. The handler is copied to a random address, because stvec is random, and uses the page
 * at address 0 as scratch memory. It disables an interrupt in sie; after an exception, always of a
 * 4-byte instruction, it resumes at the next instruction.
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
    sll     t1, t1, t0              /* uses the lowest six bits */
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
