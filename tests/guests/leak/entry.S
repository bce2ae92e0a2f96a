/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guest's first instructions: store the initial value of every register in leak_entry, which
 * start.S does not clear. t0 is kept in stval and, after sscratch has been read, t1 in sscratch.
 */
#include "csr.h"

    .section .boot.entry, "ax", @progbits
    csrw    stval, t0
    csrr    t0, sscratch
    csrw    sscratch, t1
    la      t1, leak_entry
    sd      t0, 32*8(t1)            /* sscratch */
    .irp    n, 1,2,3,4,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    sd      x\n, \n*8(t1)
    .endr
    csrr    t0, stval
    sd      t0, 5*8(t1)
    csrr    t0, sscratch
    sd      t0, 6*8(t1)
    csrr    t0, sstatus
    sd      t0, 33*8(t1)
    csrr    t0, sie
    sd      t0, 34*8(t1)
    csrr    t0, stvec
    sd      t0, 35*8(t1)
    csrr    t0, sepc
    sd      t0, 36*8(t1)
    csrr    t0, scause
    sd      t0, 37*8(t1)
    csrr    t0, satp
    sd      t0, 38*8(t1)
    csrr    t0, sip
    sd      t0, 39*8(t1)
    ld      t0, 5*8(t1)

    .section .data.leak_entry, "aw"
    .balign 16
    .globl  leak_entry
leak_entry:                         /* x0-x31, sscratch, sstatus, sie, stvec, sepc, scause, satp, sip */
    .skip   40*8
