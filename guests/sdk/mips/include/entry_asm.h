/* SPDX-License-Identifier: Apache-2.0 */
/* For assembly: processor state that C code requires. */
#ifndef GUEST_ENTRY_ASM_H
#define GUEST_ENTRY_ASM_H

#include "cp0.h"

/* clang-format off */
/*
 * Disables and masks all interrupts; selects the SDK's vectors and a separate interrupt vector.
 * Clobbers $k0; preserves the arguments and $sp. EBase may be written only while Status.BEV is 0.
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
