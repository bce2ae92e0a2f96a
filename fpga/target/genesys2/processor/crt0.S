/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Start of LiteX's boot program on the SoC, in M-mode, from the ROM, without interrupts. The SoC has one hart. A trap
 * is an error of the program: it stays here, where a simulation finds mcause and mepc.
 */
    .section .text
    .globl _start
_start:
    la      sp, _fstack
    la      t0, stay
    csrw    mtvec, t0
    csrw    mie, zero

    la      t0, _fdata
    la      t1, _edata
    la      t2, _fdata_rom
copy:
    bgeu    t0, t1, clear
    ld      t3, 0(t2)
    sd      t3, 0(t0)
    addi    t0, t0, 8
    addi    t2, t2, 8
    j       copy

clear:
    la      t0, _fbss
    la      t1, _ebss
zero_next:
    bgeu    t0, t1, run
    sd      zero, 0(t0)
    addi    t0, t0, 8
    j       zero_next

run:
    call    main

    .balign 4
stay:
    wfi
    j       stay
