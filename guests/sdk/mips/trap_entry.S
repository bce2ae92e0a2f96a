/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Default target of the vectors: saves all registers in a struct trap_frame (trap.h) on the
 * interrupted stack. The handler runs in kernel mode with interrupts off and exceptions on, so that
 * an exception in the handler is reported and a hypercall without a hypervisor is answered.
 */
#include "cp0.h"
#include "trap.h"

    .set    noreorder
    .set    noat

    .macro each_register op     /* all but zero, $k0, $k1 and $sp; $sp is the frame plus its size */
    .irp    n, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,28,30,31
    \op     $\n, TRAP_GPR + 4*\n($29)
    .endr
    .endm

    .section .text.trap_entry, "ax", @progbits
    .globl  trap_entry
    .type   trap_entry, @function
trap_entry:
    addiu   $29, $29, -TRAP_FRAME_SIZE
    each_register sw
    addiu   $8, $29, TRAP_FRAME_SIZE
    sw      $8, TRAP_GPR + 4*29($29)
    mflo    $8
    mfhi    $9
    sw      $8, TRAP_LO($29)
    sw      $9, TRAP_HI($29)
    mfc0    $8, $14
    mfc0    $9, $12
    mfc0    $10, $13
    mfc0    $11, $8
    sw      $8, TRAP_EPC($29)
    sw      $9, TRAP_STATUS($29)
    sw      $10, TRAP_CAUSE($29)
    sw      $11, TRAP_BADVADDR($29)
    ins     $9, $0, 0, 5        /* IE, EXL, ERL, KSU */
    mtc0    $9, $12
    ehb
    jal     trap_dispatch
    move    $4, $29
    di
    ehb
    lw      $8, TRAP_LO($29)
    lw      $9, TRAP_HI($29)
    mtlo    $8
    mthi    $9
    lw      $8, TRAP_STATUS($29)
    lw      $9, TRAP_EPC($29)
    mtc0    $8, $12             /* sets EXL: no exception may occur from here on */
    ehb
    mtc0    $9, $14
    ehb
    each_register lw
    addiu   $29, $29, TRAP_FRAME_SIZE
    eret
    .size   trap_entry, . - trap_entry
