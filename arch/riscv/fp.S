/* SPDX-License-Identifier: Apache-2.0 */
/* Saves, loads and clears the floating-point registers of a VCPU, except fcsr, for switch.S.
 * Callers have set sstatus.FS. */
#include "asm_layout.h"
#include "asm_offsets.h"
#include "csr.h"

.macro save numbers:vararg
    .irp    n, \numbers
    fsd     f\n, VCPU_F(\n)(a0)
    .endr
.endm

.macro load numbers:vararg
    .irp    n, \numbers
    fld     f\n, VCPU_F(\n)(a0)
    .endr
.endm

.macro clear numbers:vararg
    .irp    n, \numbers
    fmv.d.x f\n, zero
    .endr
.endm

    .text

    /* void fp_save(struct vcpu *) */
    .globl  fp_save
fp_save:
    save    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    save    16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    ret

    /* void fp_load(const struct vcpu *) */
    .globl  fp_load
fp_load:
    load    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    load    16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    ret

    /* void fp_clear(void) */
    .globl  fp_clear
fp_clear:
    clear   0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    clear   16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    ret
