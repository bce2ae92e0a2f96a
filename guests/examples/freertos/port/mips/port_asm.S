/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traps and context switches. Lazy saving: every trap saves the caller-saved registers, HI and LO
 * included; only a switch saves the callee-saved ones. $k0 and $k1 are used only while EXL is set.
 */
#include "cp0.h"
#include "port_frame.h"

    .set    noreorder
    .set    noat

    .macro load_symbol reg, symbol
    lui     \reg, %hi(\symbol)
    lw      \reg, %lo(\symbol)(\reg)
    .endm

    .macro caller_registers op
    \op     $31, FRAME_RA($29)
    .irp    n, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
    \op     $\n, FRAME_CALLER + 4*(\n - 1)($29)
    .endr
    \op     $24, FRAME_CALLER + 60($29)
    \op     $25, FRAME_CALLER + 64($29)
    .endm

    .macro callee_registers op, base
    .irp    n, 16,17,18,19,20,21,22,23
    \op     $\n, FRAME_CALLEE + 4*(\n - 16)(\base)
    .endr
    \op     $28, FRAME_CALLEE + 32(\base)
    \op     $30, FRAME_CALLEE + 36(\base)
    .endm

    .section .text.port_trap, "ax", @progbits
    .globl  port_trap
    .type   port_trap, @function
port_trap:
    addiu   $29, $29, -FRAME_SIZE
    caller_registers sw
    mflo    $8
    mfhi    $9
    mfc0    $10, $14
    mfc0    $11, $12
    sw      $8, FRAME_LO($29)
    sw      $9, FRAME_HI($29)
    sw      $10, FRAME_EPC($29)
    sw      $11, FRAME_STATUS($29)
    load_symbol $8, pxCurrentTCB
    sw      $29, 0($8)          /* pxTopOfStack */
    mfc0    $4, $13
    move    $5, $29
    lui     $29, %hi(port_isr_stack + PORT_ISR_STACK - PORT_ARGUMENTS)
    addiu   $29, $29, %lo(port_isr_stack + PORT_ISR_STACK - PORT_ARGUMENTS)
    ins     $11, $0, 0, 5       /* IE, EXL, ERL, KSU: from here on an error is a nested exception */
    mtc0    $11, $12
    jal     port_handle_trap
    ehb
    load_symbol $8, pxCurrentTCB
    bnez    $2, port_switch
    lw      $29, 0($8)

    /* $sp: the frame of the task to resume, whose callee-saved registers are loaded */
port_resume:
    lw      $8, FRAME_STATUS($29)
    lw      $9, FRAME_EPC($29)
    lw      $10, FRAME_LO($29)
    lw      $11, FRAME_HI($29)
    mtc0    $8, $12             /* sets EXL */
    mtlo    $10
    mthi    $11
    ehb
    mtc0    $9, $14
    caller_registers lw
    addiu   $29, $29, FRAME_SIZE
    ehb
    eret

    /* $t0: the interrupted task; $sp: its frame. The switch runs on the interrupt stack. */
port_switch:
    callee_registers sw, $29
    lui     $29, %hi(port_isr_stack + PORT_ISR_STACK - PORT_ARGUMENTS)
    jal     vTaskSwitchContext
    addiu   $29, $29, %lo(port_isr_stack + PORT_ISR_STACK - PORT_ARGUMENTS)
port_resume_all:
    load_symbol $8, pxCurrentTCB
    lw      $29, 0($8)
    callee_registers lw, $29
    b       port_resume
    nop
    .size   port_trap, . - port_trap

    .section .text.port_start_first_task, "ax", @progbits
    .globl  port_start_first_task
    .type   port_start_first_task, @function
port_start_first_task:
    j       port_resume_all
    nop
    .size   port_start_first_task, . - port_start_first_task
