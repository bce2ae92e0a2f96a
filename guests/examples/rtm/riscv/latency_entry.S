/* SPDX-License-Identifier: Apache-2.0 */
/* The app of latency.c: its first instruction after each release reads instret. */
#include "hcall_asm.h"
#include "rt_abi.h"

    .section .text.rtm_latency_entry, "ax", @progbits
    .globl  rtm_latency_entry
    .type   rtm_latency_entry, @function
    .balign 4
rtm_latency_entry:
    la      s0, rtm_latency_next
1:  hcall   HCALL_RT_END_JOB
    rdinstret s2
    ld      t0, 0(s0)
    sd      s2, 0(t0)
    addi    t0, t0, 8
    sd      t0, 0(s0)
    j       1b
    .size   rtm_latency_entry, . - rtm_latency_entry
