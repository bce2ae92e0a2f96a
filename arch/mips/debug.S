/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Debug exceptions use a vector in the boot ROM, in every mode, and do not switch the register
 * bank. A guest's SDBBP arrives with the guest's registers, of which DESAVE can keep one, and
 * continues as an exception of root mode.
 */
#include "cp0.h"

    .set    noreorder
    .set    noat

    .section .reset.debug, "ax"     /* follows .reset: at 0x480 of the boot memory */
debug_vector:
    mtc0    $k0, CP0_DESAVE
    mfc0    $k0, CP0_STATUS
    andi    $k0, $k0, STATUS_EXL
    bnez    $k0, stand              /* raised by arch_shutdown() in the hypervisor */
    mfc0    $k0, CP0_DEPC
    mtc0    $k0, CP0_KSCRATCH1
    mfc0    $k0, CP0_DEBUG
    mtc0    $k0, CP0_KSCRATCH2
    la      $k0, debug_return
    mtc0    $k0, CP0_DEPC
    mfc0    $k0, CP0_GUESTCTL0
    ins     $k0, $zero, 31, 1       /* GM: DERET returns to root mode */
    mtc0    $k0, CP0_GUESTCTL0
    mfc0    $k0, CP0_STATUS
    ins     $k0, $zero, 0, 1        /* IE: no interrupt before the SYSCALL */
    mtc0    $k0, CP0_STATUS
    mfc0    $k0, CP0_DESAVE
    ehb
    deret
stand:
    wait
    b       stand
    nop
    .globl  debug_return
debug_return:
    syscall
