/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traps and context switches. Lazy saving: every trap saves the caller-saved registers, only a
 * switch saves the callee-saved ones, and the FP registers only if the outgoing task has written
 * them.
 */
#include "csr.h"
#include "port_frame.h"

#define PORT_ISR_STACK 4096

    .macro load_symbol reg, symbol
    la      \reg, \symbol
    ld      \reg, 0(\reg)
    .endm

    .macro a_registers op
    .irp    n, 0,1,2,3,4,5,6,7
    \op     a\n, FRAME_A0 + \n*8(sp)
    .endr
    .endm

    .macro other_caller_registers op
    \op     ra, FRAME_RA(sp)
    \op     t2, FRAME_T2(sp)
    \op     t3, FRAME_T3(sp)
    \op     t4, FRAME_T4(sp)
    \op     t5, FRAME_T5(sp)
    \op     t6, FRAME_T6(sp)
    .endm

    .macro callee_registers op, base
    .irp    n, 0,1,2,3,4,5,6,7,8,9,10,11
    \op     s\n, FRAME_S0 + \n*8(\base)
    .endr
    .endm

    .macro fp_registers op, base
    .irp    n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    \op     f\n, \n*8(\base)
    .endr
    .endm

    .section .text.port_trap, "ax", @progbits
    .globl  port_trap
    .type   port_trap, @function
    .balign 4
port_trap:
    addi    sp, sp, -FRAME_SIZE
    sd      t0, FRAME_T0(sp)
    sd      t1, FRAME_T1(sp)
    other_caller_registers sd
    a_registers sd
    csrr    t0, sepc
    li      t1, SSTATUS_FS
    csrrc   t1, sstatus, t1     /* FP off: FP use by the kernel traps instead of corrupting a task's registers */
    sd      t0, FRAME_SEPC(sp)
    sd      t1, FRAME_SSTATUS(sp)
    load_symbol t0, pxCurrentTCB
    sd      sp, 0(t0)           /* pxTopOfStack */
    csrr    a0, scause
    mv      a1, sp
    la      sp, port_isr_stack + PORT_ISR_STACK
    call    port_handle_trap
    load_symbol t0, pxCurrentTCB
    ld      t1, 0(t0)
    bnez    a0, port_switch
    mv      sp, t1

    /* sp: the frame of the task to resume, whose callee-saved registers are loaded */
port_resume:
    ld      t0, FRAME_SEPC(sp)
    ld      t1, FRAME_SSTATUS(sp)
    csrw    sepc, t0
    csrw    sstatus, t1
    a_registers ld
    other_caller_registers ld
    ld      t0, FRAME_T0(sp)
    ld      t1, FRAME_T1(sp)
    addi    sp, sp, FRAME_SIZE
    sret

    /* t0: the interrupted task; t1: its frame */
port_switch:
    callee_registers sd, t1
    sd      tp, FRAME_TP(t1)
    mv      s0, t0
    mv      s1, t1
    call    vTaskSwitchContext
    load_symbol t0, pxCurrentTCB
    beq     t0, s0, 1f          /* same task: its FP registers are in place */
    mv      a0, s1
    ld      a1, 0(t0)
    call    port_switch_fp
1:  load_symbol t0, pxCurrentTCB
    ld      sp, 0(t0)
port_resume_all:
    callee_registers ld, sp
    ld      tp, FRAME_TP(sp)
    j       port_resume
    .size   port_trap, . - port_trap

/*
 * a0: frame of the outgoing task; a1: frame of the incoming task. Dirty FP registers of the
 * outgoing task are saved to its FP area. Those of the incoming task are restored unless no other
 * task has used the FP unit since: port_fp_owner is the FP area whose contents the registers still
 * hold. (A task that has used the FP unit has made it dirty and becomes the owner when it is
 * switched out.) fcsr is always written, because a task that has not used the FP unit yet must find
 * the default rounding mode.
 */
    .section .text.port_switch_fp, "ax", @progbits
    .type   port_switch_fp, @function
    .balign 4
port_switch_fp:
    la      t5, port_fp_owner
    li      t6, SSTATUS_FS
    csrs    sstatus, t6
    ld      t0, FRAME_SSTATUS(a0)
    and     t1, t0, t6
    bne     t1, t6, 1f          /* not dirty: its FP area is up to date */
    ld      t2, FRAME_TP(a0)
    fp_registers fsd, t2
    frcsr   t1
    sd      t1, FP_FCSR(t2)
    sd      t2, 0(t5)
    li      t1, SSTATUS_FS_DIRTY - SSTATUS_FS_CLEAN
    sub     t0, t0, t1
    sd      t0, FRAME_SSTATUS(a0)
1:  ld      t0, FRAME_SSTATUS(a1)
    and     t0, t0, t6
    li      t1, SSTATUS_FS_CLEAN
    bgeu    t0, t1, 2f
    fscsr   zero                /* the task has not used the FP unit yet */
    ret
2:  ld      t2, FRAME_TP(a1)
    ld      t1, 0(t5)
    beq     t1, t2, 3f
    fp_registers fld, t2
    sd      t2, 0(t5)
3:  ld      t1, FP_FCSR(t2)
    fscsr   t1
    ret
    .size   port_switch_fp, . - port_switch_fp

    .section .text.port_start_first_task, "ax", @progbits
    .globl  port_start_first_task
    .type   port_start_first_task, @function
    .balign 4
port_start_first_task:
    li      t0, SSTATUS_FS
    csrs    sstatus, t0
    fscsr   zero
    load_symbol t0, pxCurrentTCB
    ld      sp, 0(t0)
    j       port_resume_all
    .size   port_start_first_task, . - port_start_first_task

    .section .bss.port_fp_owner, "aw", @nobits
    .type   port_fp_owner, @object
    .balign 8
port_fp_owner:
    .zero   8
    .size   port_fp_owner, 8
