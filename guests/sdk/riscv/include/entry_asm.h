/* SPDX-License-Identifier: Apache-2.0 */
/* For assembly: processor state that C code requires. */
#ifndef GUEST_ENTRY_ASM_H
#define GUEST_ENTRY_ASM_H

#include "csr.h"

/* clang-format off */
/*
 * Disables interrupts; sets gp, tp and the SDK's trap vector. Clobbers t0; preserves the arguments
 * and sp.
 */
.macro enter_c
    csrw    sie, zero
    csrci   sstatus, SSTATUS_SIE
    .option push
    .option norelax             /* gp cannot be computed relative to gp */
    la      gp, __global_pointer$
    .option pop
    mv      tp, zero
    la      t0, trap_entry
    csrw    stvec, t0
.endm
/* clang-format on */

#endif
