/* SPDX-License-Identifier: Apache-2.0 */
/* For assembly: what has to be so before any C. */
#ifndef GUEST_ENTRY_ASM_H
#define GUEST_ENTRY_ASM_H

#include "cp0.h"

/* clang-format off */
/*
 * Interrupts off, nothing let in, the SDK's vectors, one for interrupts apart. Clobbers $k0; leaves the arguments and $sp
 * alone. While Status.BEV is set EBase must not change.
 */
.macro enter_c
    mtc0    $0, $12
    ehb
    lui     $26, %hi(_start)
    addiu   $26, $26, %lo(_start)
    mtc0    $26, $15, 1
    lui     $26, CAUSE_IV >> 16
    mtc0    $26, $13
    ehb
.endm
/* clang-format on */

#endif
