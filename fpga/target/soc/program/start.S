/* SPDX-License-Identifier: Apache-2.0 */
/* Start and trap entry of the test program, in M-mode without an operating system. */
    .section .text.start, "ax"
    .globl _start
_start:
    la sp, stack_top
    la t0, trap_entry
    csrw mtvec, t0
    la t0, bss_start
    la t1, bss_end
1:  bgeu t0, t1, 2f
    sd zero, 0(t0)
    addi t0, t0, 8
    j 1b
2:  call main
    li t0, 0x30000000 /* the board: end of the simulation */
    sd a0, 0(t0)
3:  j 3b

/* Saves what a C function may change, and passes the cycle of the entry and the cause; the result is the new mepc. */
    .balign 64
trap_entry:
    csrw mscratch, t0
    csrr t0, mcycle
    addi sp, sp, -144
    sd t0, 0(sp)
    csrr t0, mscratch
    .set offset, 8
    .irp register, ra, t0, t1, t2, t3, t4, t5, t6, a0, a1, a2, a3, a4, a5, a6, a7
    sd \register, offset(sp)
    .set offset, offset + 8
    .endr
    ld a0, 0(sp)
    csrr a1, mcause
    csrr a2, mepc
    call trap_handle
    csrw mepc, a0
    .set offset, 8
    .irp register, ra, t0, t1, t2, t3, t4, t5, t6, a0, a1, a2, a3, a4, a5, a6, a7
    ld \register, offset(sp)
    .set offset, offset + 8
    .endr
    addi sp, sp, 144
    mret
