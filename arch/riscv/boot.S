/* SPDX-License-Identifier: Apache-2.0 */
/* Where OpenSBI jumps to: HS-mode, translation off, a0 = hart id, a1 = device tree (which we do not read). */
#include "csr.h"

    .section .text.boot, "ax"
    .globl  _start
_start:
    csrw    CSR_SIE, zero
    csrw    CSR_SSCRATCH, zero
    la      t0, trap_entry
    csrw    CSR_STVEC, t0
    la      sp, boot_cpu
    call    boot_first              /* (hart id) */
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
