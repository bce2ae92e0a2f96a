/* SPDX-License-Identifier: Apache-2.0 */
/* The app of shots.c: its first instruction after each release reads instret. */
#include "hcall_asm.h"

    .section .text.rtm_shots_entry, "ax", @progbits
    .globl  rtm_shots_entry
    .type   rtm_shots_entry, @function
    .balign 4
rtm_shots_entry:
    la      s0, rtm_shots_next
1:  hcall   HCALL_RT_END_JOB
    rdinstret s2
    ld      t0, 0(s0)
    sd      s2, 0(t0)
    addi    t0, t0, 8
    sd      t0, 0(s0)
    j       1b
    .size   rtm_shots_entry, . - rtm_shots_entry
