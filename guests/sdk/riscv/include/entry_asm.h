/* SPDX-License-Identifier: Apache-2.0 */
/* For assembly: what has to be so before any C. */
#ifndef GUEST_ENTRY_ASM_H
#define GUEST_ENTRY_ASM_H

#include "csr.h"

/* clang-format off */
/* Interrupts off, gp and tp for C, the SDK's trap vector. Clobbers t0; leaves the arguments and sp alone. */
.macro enter_c
    csrw    sie, zero
    csrci   sstatus, SSTATUS_SIE
    .option push
    .option norelax             /* gp itself cannot be reached through gp */
    la      gp, __global_pointer$
    .option pop
    mv      tp, zero
    la      t0, trap_entry
    csrw    stvec, t0
.endm
/* clang-format on */

#endif
