/* SPDX-License-Identifier: Apache-2.0 */
/*
 * VCPU switch: the guest's coprocessor 0, HI, LO and the register bank. In assembly, because it
 * runs at the end of every quantum and before every release of an RT app.
 *
 * Registers that most guests never use are lazy state: their first use exits (emulate.c), and from
 * then on vcpu_save_lazy() and vcpu_load_lazy() save and load them for that VCPU.
 */
#include "asm_layout.h"
#include "asm_offsets.h"
#include "board.h"
#include "cp0.h"
#include "isa.h"

    .set    noreorder
    .set    noat
    .set    virt

    .section .text.trap, "ax"

    .macro  save reg, select, to
    mfgc0   $t1, \reg, \select
    sw      $t1, \to($s0)
    .endm

    .macro  load reg, select, from
    lw      $t1, \from($s0)
    mtgc0   $t1, \reg, \select
    .endm

    .macro  load_root reg, select, from
    lw      $t1, \from($s0)
    mtc0    $t1, \reg, \select
    .endm

    /* s6, s7: the guest's HI and LO; sp: the top of the stack. */
    .globl  reschedule
reschedule:
    lw      $s0, CPU_CURRENT($gp)
    mfc0    $t0, CP0_EPC
    sw      $s6, VCPU_HI($s0)
    sw      $s7, VCPU_LO($s0)
    sw      $t0, VCPU_PC($s0)
    .if     BOARD_EIC
    mfc0    $t2, CP0_GUESTCTL2      /* hardware clears the level when the guest takes it */
    sw      $t2, VCPU_GUESTCTL2($s0)
    .endif
    save    CP0_STATUS, VCPU_STATUS
    save    CP0_EPC, VCPU_EPC
    save    CP0_ERROREPC, VCPU_ERROR_EPC
    save    CP0_EBASE, VCPU_EBASE
    save    CP0_BADVADDR, VCPU_BADVADDR
    save    CP0_BADINSTR, VCPU_BADINSTR
    save    CP0_BADINSTRP, VCPU_BADINSTRP
    save    CP0_NESTEDEXC, VCPU_NESTED_EXC
    save    CP0_NESTEDEPC, VCPU_NESTED_EPC
    save    CP0_COMPARE, VCPU_COMPARE
    save    CP0_COUNT, VCPU_COUNT   /* before Cause, which then includes a match at this Count */
    lw      $t2, VCPU_LAZY($s0)
    mfgc0   $t1, CP0_CAUSE
    bnez    $t2, save_lazy
    sw      $t1, VCPU_CAUSE($s0)

    /* Also the entry from boot, where no VCPU is current. */
    .globl  run
run:
    jal     sched_run               /* (cpu) */
    move    $a0, $gp
    lw      $s0, CPU_CURRENT($gp)
    lw      $t1, CPU_LOADED($gp)
    bne     $t1, $s0, load
    lw      $t2, VCPU_LAST_CPU($s0)
    beq     $t2, $gp, loaded
    lw      $t1, VCPU_PENDING($s0)

load:                               /* entered also for a VCPU that was reset */
    sw      $s0, CPU_LOADED($gp)
    bne     $t2, $gp, arrive
    lw      $t1, VCPU_BANK($s0)
arrived:
    sll     $t2, $t1, 2
    addu    $t2, $gp, $t2
    lw      $t2, %gp_rel(bank_owner)($t2)
    bne     $t2, $s0, take_bank
    lw      $t3, VCPU_SRSCTL($s0)
bank_taken:
    mtc0    $t3, CP0_SRSCTL
    mtc0    $t1, CP0_GUESTCTL3
    load_root CP0_GTOFFSET, VCPU_GTOFFSET /* before Count is read below */

    /*
     * Clears the guest's LLbit: otherwise SC would succeed after LL of another VCPU, or after that
     * VCPU's store to the word. On this core only ERET in a guest clears it, so a guest of the
     * hypervisor's own executes one (LINK_STUB in trap.S), without interrupts. That guest has no
     * memory where its ERET goes, so it ends with a TLB refill exception.
     */
link_clear:
    li      $t0, GUEST_ID_LINK      /* also the guest's Status; with ERL kuseg is unmapped */
    mtc0    $t0, CP0_GUESTCTL1
    mtgc0   $t0, CP0_STATUS
    li      $t0, LINK_STUB
    mtc0    $t0, CP0_EPC
    li      $k1, LINK_END           /* negative: tells the vector that this guest ran */
    mtgc0   $k1, CP0_ERROREPC
    di
    ehb
    eret
    .globl  link_cleared
link_cleared:                       /* from the vector; k1 is 1 */
    ei                              /* Status.EXL is 1 */

    load_root CP0_GUESTCTL1, VCPU_GUESTCTL1
    load_root CP0_GUESTCTL2, VCPU_GUESTCTL2
    load_root CP0_EPC, VCPU_PC
    load    CP0_STATUS, VCPU_STATUS
    load    CP0_EPC, VCPU_EPC
    load    CP0_ERROREPC, VCPU_ERROR_EPC
    load    CP0_EBASE, VCPU_EBASE
    load    CP0_BADVADDR, VCPU_BADVADDR
    load    CP0_BADINSTR, VCPU_BADINSTR
    load    CP0_BADINSTRP, VCPU_BADINSTRP
    load    CP0_NESTEDEXC, VCPU_NESTED_EXC
    load    CP0_NESTEDEPC, VCPU_NESTED_EPC
    lw      $t2, VCPU_COMPARE($s0)
    lw      $t3, VCPU_COUNT($s0)
    lw      $t4, VCPU_CAUSE($s0)
    mtgc0   $t2, CP0_COMPARE        /* clears Cause.TI */
    mtgc0   $t4, CP0_CAUSE
    /* If Count met Compare while the VCPU did not run, set TI: then less time has passed since the
     * match than since the VCPU left. A match right now sets TI in hardware; a match at the saved
     * Count is in the saved Cause. */
    mfgc0   $t5, CP0_COUNT
    subu    $t2, $t5, $t2
    subu    $t3, $t5, $t3
    sltu    $t2, $t2, $t3
    bnez    $t2, met
    lw      $t1, VCPU_LAZY($s0)
was_met:
    bnez    $t1, load_lazy
    lw      $t1, VCPU_PENDING($s0)

loaded:
    bnez    $t1, pending
    lw      $t0, VCPU_HI($s0)
go:
    lw      $t1, VCPU_LO($s0)
    mthi    $t0
    mtlo    $t1
    li      $k1, 0
    ehb
    .globl  switched                /* for instruction counts: the scheduler is done */
switched:
    eret

save_lazy:
    jal     vcpu_save_lazy          /* (vcpu) */
    move    $a0, $s0
    b       run
    sw      $zero, CPU_LOADED($gp)  /* even if it runs again: its state in hardware is incomplete */

met:
    lui     $t2, %hi(CAUSE_TI)
    or      $t4, $t4, $t2
    b       was_met
    mtgc0   $t4, CP0_CAUSE

load_lazy:
    jal     vcpu_load_lazy          /* (vcpu) */
    move    $a0, $s0
    b       loaded
    lw      $t1, VCPU_PENDING($s0)

pending:
    .if     BOARD_EIC == 0          /* a message alone: the most frequent case, handled without C */
    li      $t2, ARCH_VIRQ_MESSAGE
    bne     $t1, $t2, 1f
    mfgc0   $t3, CP0_CAUSE
    sw      $zero, VCPU_PENDING($s0)
    ori     $t3, $t3, CAUSE_MESSAGE
    mtgc0   $t3, CP0_CAUSE
    mfgc0   $t1, CP0_COUNT          /* as timer_write_cause() */
    mfgc0   $t2, CP0_COMPARE
    subu    $t1, $t1, $t2
    sltiu   $t1, $t1, 8
    beqz    $t1, go
    lw      $t0, VCPU_HI($s0)
    lui     $t2, %hi(CAUSE_TI)
    or      $t3, $t3, $t2
    b       go
    mtgc0   $t3, CP0_CAUSE
    .endif
1:  jal     vcpu_take_pending       /* (vcpu) */
    move    $a0, $s0
    b       go
    lw      $t0, VCPU_HI($s0)

arrive:
    jal     vcpu_arrive             /* (vcpu) */
    move    $a0, $s0
    b       arrived
    lw      $t1, VCPU_BANK($s0)

    /* The VCPU's registers are in memory: give it a bank, if necessary one of another VCPU, whose
     * registers are saved. */
take_bank:
    jal     bank_take               /* (vcpu) */
    move    $a0, $s0
    lw      $t1, VCPU_BANK($s0)
    b       bank_taken
    lw      $t3, VCPU_SRSCTL($s0)

    CALLED_BY_C
    /* (vcpu): saves the registers of the bank in SRSCtl.PSS. */
    .globl  bank_save
bank_save:
    .insn
    .irp    n, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    rdpgpr  $8, $\n
    sw      $t0, VCPU_GPR(\n)($a0)
    .endr
    jr      $ra
    nop

    .globl  bank_load
bank_load:
    .insn
    .irp    n, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    lw      $t0, VCPU_GPR(\n)($a0)
    wrpgpr  $\n, $8
    .endr
    jr      $ra
    nop
    END_CALLED_BY_C
