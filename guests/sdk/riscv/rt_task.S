/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entry point of an RT app: a0 = its id, a1 = its struct rt_task (job, argument), sp = its stack.
 */
#include "entry_asm.h"
#include "hcall_asm.h"
#include "rt_abi.h"

    .section .text.rt_task_entry, "ax", @progbits
    .globl  rt_task_entry
    .type   rt_task_entry, @function
    .balign 4
rt_task_entry:
    enter_c
    mv      s0, a1
1:  ld      t0, 0(s0)
    ld      a0, 8(s0)
    jalr    t0
    hcall   HCALL_RT_END_JOB
    j       1b
    .size   rt_task_entry, . - rt_task_entry
