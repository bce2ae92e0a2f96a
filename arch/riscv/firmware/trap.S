/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traps into M-mode. The frequent ones, of a hart without Sstc and time CSR, are handled here
 * without C: set_timer, the timer's interrupt, reads of time; and the interrupt of another hart.
 * Their instructions are counted by the labels trap_*. All others are passed to fw_trap() (main.c).
 */
#include "firmware.h"
#include "sbi_numbers.h"

#define INSN_RDTIME -0x3fefdf8d /* csrrs x0, time, x0, sign-extended */
#define INSN_RD (31 << 7)

    /* Makes the interrupt pending in HS-mode; changes t1. A read-modify-write of mip must not
     * change the SEIP that software writes: Spike writes the PLIC's SEIP back there, and the
     * external interrupt never ends. The firmware does not use that bit, so it is cleared after
     * each csrs and in each csrc. */
.macro raise_interrupt irq
    li      t1, 1 << \irq
    csrs    CSR_MIP, t1
    li      t1, 1 << IRQ_SEI
    csrc    CSR_MIP, t1
.endm

    .text
    .balign 4
    .globl  fw_trap_entry
fw_trap_entry:
    csrrw   sp, CSR_MSCRATCH, sp    /* sp: struct hart; mscratch: the other mode's sp */
    sd      t0, HART_T0(sp)
    sd      t1, HART_T1(sp)
    csrr    t0, CSR_MCAUSE
    bltz    t0, interrupt
    addi    t1, t0, -CAUSE_ILLEGAL
    beqz    t1, illegal
    addi    t1, t0, -CAUSE_ECALL_HS
    bnez    t1, other
    li      t1, SBI_EXT_TIME
    bne     a7, t1, other
    bnez    a6, other
    ld      t0, HART_MTIMECMP(sp)
    beqz    t0, other
trap_set_timer:
    sd      a0, 0(t0)
    li      t1, 1 << IRQ_STI | 1 << IRQ_SEI
    csrc    CSR_MIP, t1
    li      t1, 1 << IRQ_MTI
    csrs    CSR_MIE, t1
    csrr    t0, CSR_MEPC
    addi    t0, t0, 4
    csrw    CSR_MEPC, t0
    li      a0, 0
    li      a1, 0
back:
    ld      t0, HART_T0(sp)
    ld      t1, HART_T1(sp)
    csrrw   sp, CSR_MSCRATCH, sp
trap_mret:
    mret

    /* Two kinds are enabled: requests of other harts, and the timer, which stays pending until the
     * next set_timer. */
interrupt:
    slli    t0, t0, 1               /* without the interrupt bit */
    addi    t0, t0, -2 * IRQ_MTI
    bnez    t0, 1f
trap_timer:
    li      t1, 1 << IRQ_MTI
    csrc    CSR_MIE, t1
    raise_interrupt IRQ_STI
    j       back
1:  ld      t0, HART_MSIP(sp)
    sw      zero, 0(t0)
    fence   o, rw                   /* a request that comes after the exchange traps again */
    addi    t0, sp, HART_REQUESTS
    amoswap.d t0, zero, (t0)
    andi    t1, t0, REQUEST_IPI
    beqz    t1, other
    raise_interrupt IRQ_SSI
    andi    t0, t0, REQUEST_FENCE
    beqz    t0, back
    j       other

    /* mtval has the instruction. The time of a guest is the hart's: htimedelta is 0 or missing. */
illegal:
    sd      t2, HART_T2(sp)
    csrr    t0, CSR_MTVAL
    li      t1, ~INSN_RD
    and     t1, t1, t0
    sext.w  t1, t1
    li      t2, INSN_RDTIME
    bne     t1, t2, 1f
trap_rdtime:
    csrr    t2, CSR_MEPC
    addi    t2, t2, 4
    csrw    CSR_MEPC, t2
    srli    t0, t0, 7 - 3           /* rd times the table's entry size */
    andi    t0, t0, 31 << 3
    la      t1, set_rd
    add     t0, t0, t1
    ld      t1, HART_MTIME(sp)
    ld      t1, 0(t1)
    ld      t2, HART_T2(sp)
    jr      t0
1:  ld      t2, HART_T2(sp)

    /* Everything else, in C. From here on a trap is a fault of the firmware. */
other:
    addi    sp, sp, -FRAME_SIZE
    sd      ra, FRAME_X(0)(sp)
    sd      t2, FRAME_X(1)(sp)
    .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
    sd      a\n, FRAME_X(2 + \n)(sp)
    .endr
    .irp    n, 3, 4, 5, 6
    sd      t\n, FRAME_X(7 + \n)(sp)
    .endr
    la      t0, panic_entry
    csrw    CSR_MTVEC, t0
    mv      a0, sp
    addi    a1, sp, FRAME_SIZE
    call    fw_trap                 /* (frame, hart) */
    la      t0, fw_trap_entry
    csrw    CSR_MTVEC, t0
    ld      ra, FRAME_X(0)(sp)
    ld      t2, FRAME_X(1)(sp)
    .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
    ld      a\n, FRAME_X(2 + \n)(sp)
    .endr
    .irp    n, 3, 4, 5, 6
    ld      t\n, FRAME_X(7 + \n)(sp)
    .endr
    addi    sp, sp, FRAME_SIZE
    j       back

    .option push
    .option norvc
    .balign 8
set_rd:                             /* x[n] of the other mode = t1 */
    j       back
    nop
    mv      ra, t1
    j       back
    csrw    CSR_MSCRATCH, t1
    j       back
    mv      gp, t1
    j       back
    mv      tp, t1
    j       back
    sd      t1, HART_T0(sp)
    j       back
    sd      t1, HART_T1(sp)
    j       back
    .irp    n, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    mv      x\n, t1
    j       back
    .endr
    .option pop

    /* A trap out of the firmware itself. */
    .balign 4
    .globl  panic_entry
panic_entry:
    la      sp, fw_panic_stack + FIRMWARE_STACK_SIZE
    csrr    a0, CSR_MCAUSE
    csrr    a1, CSR_MEPC
    csrr    a2, CSR_MTVAL
    j       fw_panic                /* (cause, pc, address) */
