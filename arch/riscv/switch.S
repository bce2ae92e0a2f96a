/* SPDX-License-Identifier: Apache-2.0 */
/*
 * VCPU switch: registers that an exit has not saved, and CSRs that the H extension does not bank.
 * In assembly, because it runs at the end of every quantum and before every release of an RT app.
 *
 * Floating point is switched without traps. A VCPU that has written FP registers (sstatus.FS is
 * dirty) saves them when it leaves. They also stay in the hart: if no other VCPU has written FP
 * registers when it returns, nothing is loaded. VCPUs that do not use floating point all have
 * zeros, so switches between them load nothing either. A trap at the first use is no alternative:
 * firmware does not delegate illegal instructions, so that it would go through M-mode, and QEMU
 * 10.0, whose mstatus.MPV cannot be cleared, then continues in the guest instead of the hypervisor.
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

    /* t0: the current VCPU, whose other registers are saved; sp: this hart's struct cpu, the top of
     * its stack. Everything must be saved before sched_run(), after which another hart may load the
     * VCPU. */
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
    save_csr CSR_FCSR, VCPU_FCSR    /* always: in QEMU a write to fcsr does not make FS dirty */
    save_csr CSR_SSTATUS, VCPU_SSTATUS
    bltz    t1, fp_leave            /* SD: only FS can be dirty */

    /* Also the entry of a hart from boot: no VCPU is current, and sp is the top of its stack. */
    .globl  trap_run
trap_run:
    mv      a0, sp
    call    sched_run               /* (cpu) */
    ld      s0, CPU_CURRENT(sp)
    sc.w    zero, zero, (sp)        /* clears the last VCPU's reservation; cpu.flags is 0 here */
    ld      t1, CPU_LOADED(sp)
    bne     t1, s0, load
    ld      t1, VCPU_LAST_CPU(s0)   /* stale here if it ran elsewhere or was reset */
    bne     t1, sp, load
    ld      t1, VCPU_VSIE(s0)       /* arch_vcpu_mask() may have cleared it */
    csrw    CSR_VSIE, t1
loaded:
    ld      t1, VCPU_PENDING(s0)
    bnez    t1, pending
go:
    mv      t0, s0
    callee_saved ld, t0
    j       resume

load:
    sd      s0, CPU_LOADED(sp)
    csrw    CSR_VSATP, zero         /* no page walk may mix tables of two VMs */
    load_csr CSR_HGATP, VCPU_HGATP
    ld      t1, VCPU_LAST_CPU(s0)
    bne     t1, sp, arrive
arrived:
    ld      t1, VCPU_FP(s0)
    ld      t2, CPU_FP(sp)
    bne     t1, t2, fp_arrive
fp_arrived:
    load_csr CSR_FCSR, VCPU_FCSR    /* FS is on since hart_init() or in the previous VCPU */
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
    .option norvc                   /* fixed size, to be patched */
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

    /* The VCPU has written FP registers: from here on f[] and this hart hold its values. */
fp_leave:
    sd      t0, VCPU_FP(t0)
    sd      t0, CPU_FP(sp)
    li      t2, SSTATUS_FS_DIRTY - SSTATUS_FS_CLEAN
    sub     t1, t1, t2
    sd      t1, VCPU_SSTATUS(t0)
    mv      a0, t0
    call    fp_save                 /* (vcpu) */
    j       trap_run

    /* t1: the VCPU, or 0 if all its FP registers are 0 */
fp_arrive:
    sd      t1, CPU_FP(sp)
    mv      a0, t1
    beqz    t1, 1f
    call    fp_load                 /* (vcpu) */
    j       fp_arrived
1:  call    fp_clear
    j       fp_arrived

    /* Without Sstc: the guest's timer is emulated, and its deadline is always in struct vcpu. */
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
no_timer_patches:                   /* address, target of the jump that main.c patches in */
    .dword  save_timer, save_no_timer
    .dword  load_timer, load_no_timer
    .popsection
