/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The app of latency.c: its first instruction after each release is a marker for iasim; then it
 * stores the 32-bit clock.
 */
#include "hcall_asm.h"
#include "rt_abi.h"

    .set    noreorder

    .section .text.rtm_latency_entry, "ax", @progbits
    .globl  rtm_latency_entry
    .type   rtm_latency_entry, @function
rtm_latency_entry:
    lui     $16, %hi(rtm_latency_next)
    addiu   $16, $16, %lo(rtm_latency_next)
1:  hcall   HCALL_RT_END_JOB
    sltiu   $0, $0, 40
    mfc0    $9, $9
    lw      $8, 0($16)
    sll     $9, $9, 1
    sw      $9, 0($8)
    sw      $0, 4($8)
    addiu   $8, $8, 8
    b       1b
    sw      $8, 0($16)
    .size   rtm_latency_entry, . - rtm_latency_entry
