/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first instructions of the guest (guest.ld puts them before _start): record instret, to
 * measure the cost of booting. If instret is not readable, the trap resumes at the label after the
 * read.
 */
    .section .boot.entry, "ax", @progbits
    .balign 4
    la      t0, 1f
    csrw    stvec, t0
    li      t1, 0
    rdinstret t1
    .balign 4
1:  la      t0, bench_entry_instret
    sd      t1, 0(t0)
    j       _start

    .section .data.bench_entry_instret, "aw", @progbits /* not .bss, which start.S clears later */
    .globl  bench_entry_instret
    .type   bench_entry_instret, @object
    .balign 8
bench_entry_instret:
    .dword  0
    .size   bench_entry_instret, 8
