/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From one VCPU to the next: what an exit has not saved yet, and what the H extension does not bank. In assembly, as
 * this is the path at the end of every quantum and before every release of an RT app.
 *
 * Floating point needs no traps. A VCPU whose FP registers were written saves them when it leaves (the hart keeps
 * track: sstatus.FS is dirty); they stay in the hart, and if nobody else wrote there meanwhile, coming back costs
 * nothing. VCPUs that do not use floating point all find zeros, so that between them nothing is done either. Not by a
 * trap at the first use: firmware does not delegate illegal instructions, so that trap goes through M-mode first, and
 * on QEMU 10.0 (whose mstatus.MPV cannot be cleared) its way from there to us ends in the guest.
 */
#include "asm_layout.h"
#include "asm_offsets.h"
#include "csr.h"

    .section .text.trap, "ax"

    .macro save_csr csr, to
    csrr    t1, \csr
    sd      t1, \to(t0)
    .endm

    .macro load_csr csr, from
    ld      t1, \from(s0)
    csrw    \csr, t1
    .endm

    .macro callee_saved op, base
    \op     gp, VCPU_X(3)(\base)
    \op     tp, VCPU_X(4)(\base)
    \op     s0, VCPU_X(8)(\base)
    \op     s1, VCPU_X(9)(\base)
    .irp    n, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
    \op     s\n, VCPU_X(16 + \n)(\base)
    .endr
    .endm

    /* t0: the current VCPU, whose other registers are saved; sp: this hart's struct cpu, which is also the empty stack.
     * All of it before sched_run() lets another hart have the VCPU. */
    .globl  reschedule
reschedule:
    callee_saved sd, t0
    save_csr CSR_SEPC, VCPU_SEPC
    save_csr CSR_VSSTATUS, VCPU_VSSTATUS
    save_csr CSR_VSIE, VCPU_VSIE
    save_csr CSR_VSTVEC, VCPU_VSTVEC
    save_csr CSR_VSSCRATCH, VCPU_VSSCRATCH
    save_csr CSR_VSEPC, VCPU_VSEPC
    save_csr CSR_VSCAUSE, VCPU_VSCAUSE
    save_csr CSR_VSTVAL, VCPU_VSTVAL
    save_csr CSR_VSATP, VCPU_VSATP
    save_csr CSR_HVIP, VCPU_HVIP
    save_csr CSR_SCOUNTEREN, VCPU_SCOUNTEREN
save_timer:
    save_csr CSR_VSTIMECMP, VCPU_VSTIMECMP
    save_csr CSR_SENVCFG, VCPU_SENVCFG
timer_saved:
    save_csr CSR_FCSR, VCPU_FCSR    /* whatever FS says: QEMU does not count a write to it as making FS dirty */
    save_csr CSR_SSTATUS, VCPU_SSTATUS
    bltz    t1, fp_leave            /* SD: of what it sums up only FS is on */

    /* Also where a hart comes from its boot: nothing is current then, and sp is its empty stack. */
    .globl  trap_run
trap_run:
    mv      a0, sp
    call    sched_run               /* (cpu) */
    ld      s0, CPU_CURRENT(sp)
    sc.w    zero, zero, (sp)        /* gives up a reservation of the VCPU before; cpu.flags is 0 here */
    ld      t1, CPU_LOADED(sp)
    bne     t1, s0, load
    ld      t1, VCPU_LAST_CPU(s0)   /* what this hart holds is old if the VCPU ran on another one, or was reset */
    bne     t1, sp, load
loaded:
    ld      t1, VCPU_PENDING(s0)
    bnez    t1, pending
go:
    mv      t0, s0
    callee_saved ld, t0
    j       resume

load:
    sd      s0, CPU_LOADED(sp)
    csrw    CSR_VSATP, zero         /* no walk may begin in one VM's tables and end in another's */
    load_csr CSR_HGATP, VCPU_HGATP
    ld      t1, VCPU_LAST_CPU(s0)
    bne     t1, sp, arrive
arrived:
    ld      t1, VCPU_FP(s0)
    ld      t2, CPU_FP(sp)
    bne     t1, t2, fp_arrive
fp_arrived:
    load_csr CSR_FCSR, VCPU_FCSR    /* FS is on: from hart_init(), or from the VCPU before */
    load_csr CSR_SSTATUS, VCPU_SSTATUS
    load_csr CSR_SEPC, VCPU_SEPC
    load_csr CSR_VSSTATUS, VCPU_VSSTATUS
    load_csr CSR_VSIE, VCPU_VSIE
    load_csr CSR_VSTVEC, VCPU_VSTVEC
    load_csr CSR_VSSCRATCH, VCPU_VSSCRATCH
    load_csr CSR_VSEPC, VCPU_VSEPC
    load_csr CSR_VSCAUSE, VCPU_VSCAUSE
    load_csr CSR_VSTVAL, VCPU_VSTVAL
    load_csr CSR_VSATP, VCPU_VSATP
    load_csr CSR_HVIP, VCPU_HVIP
    load_csr CSR_SCOUNTEREN, VCPU_SCOUNTEREN
    .option push
    .option norvc                   /* a place to patch */
load_timer:
    load_csr CSR_VSTIMECMP, VCPU_VSTIMECMP
    .option pop
    load_csr CSR_SENVCFG, VCPU_SENVCFG
    j       loaded

pending:
    mv      a0, s0
    call    vcpu_take_pending       /* (vcpu) */
    j       go

arrive:
    mv      a0, s0
    mv      a1, sp
    call    vcpu_arrive             /* (vcpu, cpu) */
    j       arrived

    /* It has written FP registers: they are its own from here on, and this hart holds them too. */
fp_leave:
    sd      t0, VCPU_FP(t0)
    sd      t0, CPU_FP(sp)
    li      t2, SSTATUS_FS_DIRTY - SSTATUS_FS_CLEAN
    sub     t1, t1, t2
    sd      t1, VCPU_SSTATUS(t0)
    mv      a0, t0
    call    fp_save                 /* (vcpu) */
    j       trap_run

    /* t1: the VCPU, or 0 if its FP registers are all 0 */
fp_arrive:
    sd      t1, CPU_FP(sp)
    mv      a0, t1
    beqz    t1, 1f
    call    fp_load                 /* (vcpu) */
    j       fp_arrived
1:  call    fp_clear
    j       fp_arrived

    /* Without Sstc: the guest's timer is emulated, and its deadline always in the VCPU. */
save_no_timer:
    la      t1, riscv_facts
    lbu     t1, FACTS_ENVCFG(t1)
    beqz    t1, timer_saved
    save_csr CSR_SENVCFG, VCPU_SENVCFG
    j       timer_saved
load_no_timer:
    la      t1, riscv_facts
    lbu     t1, FACTS_ENVCFG(t1)
    beqz    t1, loaded
    load_csr CSR_SENVCFG, VCPU_SENVCFG
    j       loaded

    .pushsection .rodata
    .balign 8
    .globl  no_timer_patches
no_timer_patches:                   /* place, target; main.c replaces the one by a jump to the other */
    .dword  save_timer, save_no_timer
    .dword  load_timer, load_no_timer
    .popsection
