/* SPDX-License-Identifier: Apache-2.0 */
/*
 * struct bench_gap switch_wait_gap(uint64_t threshold): reads instret repeatedly, with three
 * instructions per read (unrolled, so that the backward jump is rare), until two reads differ by
 * more than `threshold`. instret counts all instructions of the hart, so that on one hart the gaps
 * of two VMs interlock: the first value of one VM after its gap minus the last value of the other
 * before its gap is the cost of the VM switch, plus at most these three instructions.
 */
    .section .text.switch_wait_gap, "ax", @progbits
    .globl  switch_wait_gap
    .type   switch_wait_gap, @function
    .balign 4
switch_wait_gap:
    mv      t0, a0
    rdinstret a1
    add     t1, a1, t0          /* the next read is expected up to here */
1:
    .rept   64
    rdinstret a1
    bgtu    a1, t1, 2f
    add     t1, a1, t0
    .endr
    j       1b
2:  sub     a0, t1, t0
    ret
    .size   switch_wait_gap, . - switch_wait_gap
