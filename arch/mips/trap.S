/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entry and exit of the hypervisor.
 *
 * The hypervisor uses the highest GPR shadow set (bank): an exception switches to it, ERET back.
 * The guest's registers stay in the guest's bank, accessible by RDPGPR and WRPGPR. HI and LO exist
 * only once; paths that call C keep them in s6 and s7, which C preserves.
 *
 * The hypervisor runs with Status.EXL=1: the CPU is in root mode although GuestCtl0.GM stays 1, and
 * interrupts are disabled. The hypervisor's bank keeps its values while a guest runs: gp points to
 * this CPU's struct cpu, sp to the top of the stack; k1 is 0 in a guest, 1 in the hypervisor, to
 * detect traps out of the hypervisor, and negative in link_clear's guest (switch.S).
 */
#include "asm_layout.h"
#include "asm_offsets.h"
#include "board.h"
#include "cp0.h"
#include "hypercall_abi.h"
#include "isa.h"

    .set    noreorder
    .set    noat
    .set    virt

    .section .vectors, "ax"
    .globl  vectors
vectors:
    /* TLB refill: a guest-physical address without an entry in the root TLB. */
    .org    vectors + 0x000
    bnez    $k1, refill_in_root
    mfc0    $t0, CP0_CAUSE
    j       fault
    li      $k1, 1

    /* Cache errors are fatal. */
    .org    vectors + 0x100
    b       hypervisor_trap
    nop

    /* The code of link_clear's guest (switch.S), whose address 0 is the start of this page. LL sets
     * LLAddr, which then holds no address of another VM; ERET clears LLbit, and jumps to where this
     * guest has no memory. */
    .org    vectors + LINK_STUB
    ll      $zero, 0($zero)
    eret

    .org    vectors + 0x180
    bnez    $k1, hypervisor_trap
    li      $k1, 1
    mfc0    $t0, CP0_CAUSE
    li      $t2, EXC_GE
    ext     $t1, $t0, CAUSE_CODE_SHIFT, 5
    bne     $t1, $t2, fault
    mfc0    $t3, CP0_GUESTCTL0
    li      $t2, GEXC_HC
    ext     $t3, $t3, GUESTCTL0_GEXC_SHIFT, 5
    bne     $t3, $t2, guest_exit
    mfc0    $t4, CP0_EPC
    bltz    $t0, hypcall_slot       /* Cause.BD */
    addiu   $t4, $t4, 4             /* resume after the HYPCALL */
    mfc0    $t5, CP0_BADINSTR
    mtc0    $t4, CP0_EPC
    ext     $t5, $t5, 11, 10        /* the code */
hypcall_at_pc:
    bnez    $t5, hypcall_other
    rdpgpr  $2, $2
    b       hcall
    sltiu   $t1, $v0, HCALL_MAX

    /* Interrupts. An external controller uses this vector for all of them. */
    .org    vectors + 0x200
    .globl  irq_vector
irq_vector:
    bnez    $k1, hypervisor_trap
    li      $k1, 1
    mfc0    $t0, CP0_CAUSE
    mfhi    $s6
    sll     $t0, $t0, 1             /* CAUSE_TI */
    bgez    $t0, irq_other
    mflo    $s7
    jal     timer_expire            /* (cpu); any other pending interrupt traps again */
    move    $a0, $gp
    lw      $t1, CPU_FLAGS($gp)
    bnez    $t1, reschedule
    mthi    $s6
    mfgc0   $t2, CP0_CAUSE
    sll     $t2, $t2, 31 - CAUSE_DC_SHIFT
    bltz    $t2, irq_other          /* for its timer_hold() */
    mtlo    $s7
    li      $k1, 0
    .globl  left                    /* for instruction counts: return to the same VCPU */
left:
    eret

    .section .text.trap, "ax"

    /* s6, s7: the guest's HI and LO */
    .globl  leave
leave:
    lw      $t1, CPU_FLAGS($gp)
    bnez    $t1, reschedule
    mthi    $s6
    mtlo    $s7
    li      $k1, 0
    ehb
    eret

    /* A hypercall; v0: its number. On HCALL_AGAIN the guest executes HYPCALL again. */
hcall:                              /* t1: whether the number is in the table */
    beqz    $t1, no_call
    sll     $v0, $v0, 2
    addu    $t9, $gp, $v0
    lw      $t9, %gp_rel(hypercall_table)($t9)
    rdpgpr  $4, $4
    rdpgpr  $5, $5
    rdpgpr  $6, $6
    rdpgpr  $7, $7
    rdpgpr  $8, $8
    rdpgpr  $9, $9
    mfhi    $s6
    jalr    $t9                     /* ($4 to $9) -> v0, v1, as hypercall_dispatch() */
    mflo    $s7
    li      $t4, HCALL_AGAIN
    beq     $v0, $t4, again
    lw      $t4, CPU_FLAGS($gp)
    wrpgpr  $2, $2
    wrpgpr  $3, $3
    bnez    $t4, reschedule
    mthi    $s6
    mtlo    $s7
    li      $k1, 0
    ehb
    eret

no_call:
    li      $v0, HCALL_ERR_NOT_SUPPORTED
    wrpgpr  $2, $2
    wrpgpr  $3, $0
    li      $k1, 0
    ehb
    eret

again:
    jal     exit_repeat             /* sets the guest's PC back to the HYPCALL */
    nop
    b       leave
    nop

    /* A hypercall in a branch's delay slot: the next PC depends on the branch. */
hypcall_slot:
    mfhi    $s6
    jal     exit_slot_call          /* moves EPC; -> code */
    mflo    $s7
    mthi    $s6
    mtlo    $s7
    b       hypcall_at_pc
    move    $t5, $v0

hypcall_other:                      /* t5: code */
    mfhi    $s6
    mflo    $s7
    jal     exit_hypcall            /* (code) */
    move    $a0, $t5
    b       leave
    nop

guest_exit:                         /* t3: GExcCode; t0: Cause, t4: EPC */
    .if     BOARD_GUEST_TIMER == 0
    bnez    $t3, 2f                 /* GEXC_GPSI is 0 */
    mfc0    $t5, CP0_BADINSTR
    /* MFC0 of Count, which guests read often, is emulated without C. Bits 20 to 16 of the
     * instruction name the register. */
    ext     $a0, $t5, 16, 5
    ins     $t5, $zero, 16, 5
    li      $t1, 0x40004800
    bne     $t5, $t1, 2f
    lw      $t2, CPU_CURRENT($gp)
    bltz    $t0, 2f                 /* in a delay slot */
    addiu   $t4, $t4, 4
    mtc0    $t4, CP0_EPC
    lw      $t2, VCPU_GTOFFSET($t2)
    mfgc0   $t1, CP0_CAUSE
    mfc0    $a1, CP0_COUNT
    ext     $t1, $t1, CAUSE_DC_SHIFT, 1
    movn    $a1, $zero, $t1         /* the guest's Count is stopped */
    jal     gpr_set                 /* (number, value) */
    addu    $a1, $a1, $t2
    li      $k1, 0
    ehb
    eret
    .endif
2:  mfhi    $s6
    mflo    $s7
    jal     exit_guest              /* (reason) */
    move    $a0, $t3
    b       leave
    nop

irq_other:
    jal     irq_take
    nop
    b       leave
    nop

fault:                              /* t0: Cause */
    mfhi    $s6
    mflo    $s7
    jal     exit_fault              /* (exception code) */
    ext     $a0, $t0, CAUSE_CODE_SHIFT, 5
    b       leave
    nop

refill_in_root:
    bltz    $k1, link_cleared       /* of link_clear's guest: expected */
    li      $k1, 1

    /*
     * A trap out of the hypervisor is a bug in it: report the location and stop the machine. EXL
     * was 1, so EPC still holds the guest's PC; NestedEPC has the hypervisor's. Starts at the top
     * of the stack, whose contents are lost.
     */
    .globl  hypervisor_trap
hypervisor_trap:
    move    $a0, $sp
    la      $sp, boot_stack
    jal     hypervisor_panic        /* (stack pointer) */
    nop

    CALLED_BY_C
    /* (number) -> general register of the running guest */
    .globl  gpr_get
gpr_get:
    sll     $a0, $a0, 3
    la      $t0, 1f
    addu    $t0, $t0, $a0
    jr      $t0
    nop
1:  .irp    n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    jr      $ra
    rdpgpr  $2, $\n
    .endr

    /* (number, value); writes to register 0 are ignored */
    .globl  gpr_set
gpr_set:
    sll     $a0, $a0, 3
    la      $t0, 1f
    addu    $t0, $t0, $a0
    jr      $t0
    nop
1:  .irp    n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    jr      $ra
    wrpgpr  $\n, $5
    .endr
    END_CALLED_BY_C
