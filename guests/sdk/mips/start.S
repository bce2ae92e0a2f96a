/* SPDX-License-Identifier: Apache-2.0 */
/*
 * First instructions of a bare guest after reset or start by the hypervisor: Status = BEV | ERL,
 * $a0 = number of the VCPU, $a1 = device tree or 0. Calls main(hart, dtb) and shuts down when
 * main() returns.
 *
 * The image starts with a page of vectors, whose address is written to EBase. The first vector, TLB
 * refill, is also the entry point; Status.EXL distinguishes the two.
 */
#include "entry_asm.h"

    .set    noreorder
    .set    noat

    .macro vector               /* jumps to trap_vector; $k0 and $k1 are free */
    lui     $26, %hi(trap_vector)
    lw      $26, %lo(trap_vector)($26)
    jr      $26
    nop
    .endm

    .section .boot.start, "ax", @progbits
    .globl  _start
    .type   _start, @function
_start:
    mfc0    $26, $12
    andi    $26, $26, STATUS_EXL
    beqz    $26, boot
    nop
    vector

boot:
    enter_c
    lui     $29, %hi(__stack_top)
    addiu   $29, $29, %lo(__stack_top)
    move    $16, $4
    move    $17, $5
    lui     $8, %hi(__bss_start)
    addiu   $8, $8, %lo(__bss_start)
    lui     $9, %hi(__bss_end)
    addiu   $9, $9, %lo(__bss_end)      /* both 16-byte aligned by the linker script */
1:  beq     $8, $9, 2f
    addiu   $8, $8, 4
    b       1b
    sw      $0, -4($8)
2:  addiu   $29, $29, -16               /* argument area of the callee (o32) */
    jal     machine_init
    move    $4, $17
    move    $4, $16
    jal     main
    move    $5, $17
    jal     machine_shutdown
    sltu    $4, $0, $2                  /* failed unless main() returned 0 */

    .org    0x180
    vector
    .org    0x200
    vector
    .size   _start, . - _start
