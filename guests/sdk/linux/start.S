/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel starts a program with argc at sp, followed by argv (ELF psABI, process
 * initialization).
 */
    .section .text.start, "ax", @progbits
    .globl _start
_start:
    ld      a0, 0(sp)
    addi    a1, sp, 8
    andi    sp, sp, -16
    call    main
    j       .
