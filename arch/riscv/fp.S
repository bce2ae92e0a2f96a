/* SPDX-License-Identifier: Apache-2.0 */
/* Floating-point state of a VCPU; sstatus.FS is on when these are called. */
#include "asm_layout.h"
#include "csr.h"

    .text

    /* void fp_save(struct vcpu *) */
    .globl  fp_save
fp_save:
    .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    fsd     f\n, VCPU_F(\n)(a0)
    .endr
    ret

    /* void fp_load(const struct vcpu *) */
    .globl  fp_load
fp_load:
    .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    fld     f\n, VCPU_F(\n)(a0)
    .endr
    ret

    /* void fp_clear(void) */
    .globl  fp_clear
fp_clear:
    csrw    CSR_FCSR, zero
    .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    fmv.d.x f\n, zero
    .endr
    ret
