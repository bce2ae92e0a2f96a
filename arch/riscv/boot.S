/* SPDX-License-Identifier: Apache-2.0 */
/* Entry from OpenSBI: HS-mode, translation off, a0 = hart id, a1 = device tree, of which only the
 * size is read. */
#include "asm_layout.h"
#include "asm_offsets.h"
#include "csr.h"

    .section .text.boot, "ax"
    .globl  _start
_start:
    csrw    CSR_SIE, zero
    /* Only one hart boots here. OpenSBI 1.1 can enter here also with a hart that was started at
     * boot_secondary. */
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

    /* Entry of the other harts from the SBI: a0 = hart id, a1 = this hart's struct cpu. */
    .globl  boot_secondary
boot_secondary:
    csrw    CSR_SIE, zero
    csrw    CSR_SSCRATCH, zero
    la      t0, trap_entry
    csrw    CSR_STVEC, t0
    mv      sp, a1
    call    boot_other
    j       trap_run

    /* a0 = hart id: when the boot hart is done, find this hart's struct cpu by its id. */
late:
    la      t0, boot_done
1:  lw      t1, 0(t0)
    beqz    t1, 1b
    fence   r, rw
    la      a1, boot_cpu
    li      t2, SYSIMAGE_MAX_HARTS
    li      t3, HART_SIZE /* a stack and its guard page */
2:  ld      t1, CPU_HARTID(a1)
    beq     t1, a0, boot_secondary
    add     a1, a1, t3
    addi    t2, t2, -1
    bnez    t2, 2b
3:  wfi                             /* a hart that the system does not use */
    j       3b

    .section .data
    .balign 4
boot_taken:
    .word   0
    .globl  boot_done
boot_done:
    .word   0
