/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Latency of timer interrupts: the handler's first instruction reads instret. struct bench_at
 * f(uint64_t deadline).
 */
#include "csr.h"

#define SBI_EXT_TIME 0x54494d45

    .macro begin name
    .section .text.\name, "ax", @progbits
    .globl  \name
    .type   \name, @function
    .balign 4
\name:
    csrr    t2, stvec
    csrr    t3, sie
    la      t0, 2f
    csrw    stvec, t0
    li      t0, 1 << IRQ_TIMER
    csrw    sie, t0
    .endm

    /*
     * Spins until the interrupt and leaves it masked but pending; the caller resets the deadline.
     */
    .macro finish
    csrsi   sstatus, SSTATUS_SIE
1:  j       1b
    .balign 4
2:  rdinstret a0
    rdtime  a1
    csrci   sstatus, SSTATUS_SIE
    csrw    sie, t3
    csrw    stvec, t2
    ret
    .endm

    begin   sample_timer_sstc
    csrw    CSR_STIMECMP, a0
    finish

    begin   sample_timer_sbi
    li      a6, 0
    li      a7, SBI_EXT_TIME
    ecall
    finish

    .section .text.sample_clock, "ax", @progbits
    .globl  sample_clock
    .type   sample_clock, @function
sample_clock:
    rdtime  a1
    rdinstret a0
    ret
