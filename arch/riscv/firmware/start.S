/* SPDX-License-Identifier: Apache-2.0 */
/* Reset, and the entry into the hypervisor. a1: the device tree. Also the accesses that may trap,
 * for main.c and console.c. A hart whose id is FIRMWARE_HARTS or more stays in WFI. */
#include "firmware.h"

    .section .text.boot, "ax"
    .globl  _start
_start:
    csrw    CSR_MIE, zero
    la      t0, panic_entry
    csrw    CSR_MTVEC, t0
    csrr    a0, CSR_MHARTID
    li      t0, FIRMWARE_HARTS
    bgeu    a0, t0, halt
    la      a2, fw_stacks + FIRMWARE_STACK_SIZE - HART_SIZE
    li      t0, FIRMWARE_STACK_SIZE
    mul     t0, t0, a0
    add     a2, a2, t0
    mv      sp, a2
    j       fw_start                /* (hart id, device tree, hart) */

halt:
    wfi
    j       halt

    .text
    .globl  fw_enter
fw_enter:                           /* (hart id, argument, entry, hart) */
    csrw    CSR_MEPC, a2
    csrw    CSR_MSCRATCH, a3
    la      t0, fw_trap_entry
    csrw    CSR_MTVEC, t0
    csrw    CSR_SATP, zero
    li      t0, MSTATUS_MPP | MSTATUS_MPIE | MSTATUS_MPV | MSTATUS_SIE
    csrc    CSR_MSTATUS, t0
    li      t0, MSTATUS_MPP_S | MSTATUS_FS /* floating point as OpenSBI leaves it */
    csrs    CSR_MSTATUS, t0
    mret

    /* A trap here skips the instruction and returns 0. */
.macro attempt name, instruction:vararg
    .globl  \name
    .balign 4
\name:
    la      t0, 1f
    csrrw   t1, CSR_MTVEC, t0
    \instruction
    li      a0, 1
    csrw    CSR_MTVEC, t1
    ret
    .balign 4
1:  li      a0, 0
    csrw    CSR_MTVEC, t1
    ret
.endm

    /* As `attempt`, for a byte of memory: a trap returns -1. */
    .globl  fw_load_byte
    .balign 4
fw_load_byte:
    la      t0, 1f
    csrrw   t1, CSR_MTVEC, t0
    lbu     a0, 0(a0)
    csrw    CSR_MTVEC, t1
    ret
    .balign 4
1:  li      a0, -1
    csrw    CSR_MTVEC, t1
    ret

    attempt fw_store_byte, sb a1, 0(a0)
    attempt fw_set_menvcfg, csrw CSR_MENVCFG, a0
    attempt fw_set_mstateen0, csrw CSR_MSTATEEN0, a0
    attempt fw_has_stimecmp, csrr a0, CSR_STIMECMP
    attempt fw_has_time, csrr a0, CSR_TIME
