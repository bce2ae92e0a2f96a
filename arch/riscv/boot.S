/* SPDX-License-Identifier: Apache-2.0 */
/* Where OpenSBI jumps to: HS-mode, translation off, a0 = hart id, a1 = device tree (of which we read the size only). */
#include "asm_layout.h"
#include "asm_offsets.h"
#include "csr.h"

    .section .text.boot, "ax"
    .globl  _start
_start:
    csrw    CSR_SIE, zero
    /* One hart only. OpenSBI 1.1 can send a hart that is being started here instead of where it was told to. */
    la      t0, boot_taken
    li      t1, 1
    amoswap.w.aq t1, t1, (t0)
    bnez    t1, late
    csrw    CSR_SSCRATCH, zero
    la      t0, trap_entry
    csrw    CSR_STVEC, t0
    la      sp, boot_cpu
    call    boot_first              /* (hart id, device tree) */
    j       trap_run

    /* Where the SBI starts the other harts: a0 = hart id, a1 = this hart's struct cpu. */
    .globl  boot_secondary
boot_secondary:
    csrw    CSR_SIE, zero
    csrw    CSR_SSCRATCH, zero
    la      t0, trap_entry
    csrw    CSR_STVEC, t0
    mv      sp, a1
    call    boot_other
    j       trap_run

    /* a0 = hart id: once the boot hart is through, find this hart's struct cpu by it. */
late:
    la      t0, boot_done
1:  lw      t1, 0(t0)
    beqz    t1, 1b
    fence   r, rw
    la      a1, boot_cpu
    li      t2, SYSIMAGE_MAX_HARTS
    li      t3, 2 * HART_STACK_SIZE /* a stack and its guard page */
2:  ld      t1, CPU_HARTID(a1)
    beq     t1, a0, boot_secondary
    add     a1, a1, t3
    addi    t2, t2, -1
    bnez    t2, 2b
3:  wfi                             /* a hart that this system does not use */
    j       3b

    .section .data
    .balign 4
boot_taken:
    .word   0
    .globl  boot_done
boot_done:
    .word   0
