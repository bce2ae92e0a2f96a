/* SPDX-License-Identifier: Apache-2.0 */
/* The trap vector: saves all registers in a struct trap_frame (trap.h) on the interrupted stack. */
#include "trap.h"

#define SEPC 0
#define SSTATUS (33 * 8)

    .macro each_register op     /* all but zero and sp; sp is the frame plus its size */
    \op     x1, 1*8+8(sp)
    .irp    n, 3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    \op     x\n, \n*8+8(sp)
    .endr
    .endm

    .section .text.trap_entry, "ax", @progbits
    .globl  trap_entry
    .type   trap_entry, @function
    .balign 4                   /* stvec holds bits 63..2 */
trap_entry:
    addi    sp, sp, -TRAP_FRAME_SIZE
    each_register sd
    addi    t0, sp, TRAP_FRAME_SIZE
    sd      t0, 2*8+8(sp)
    csrr    t0, sepc
    csrr    t1, sstatus
    sd      t0, SEPC(sp)
    sd      t1, SSTATUS(sp)
    mv      a0, sp
    csrr    a1, scause
    csrr    a2, stval
    call    trap_dispatch
    ld      t0, SEPC(sp)
    ld      t1, SSTATUS(sp)
    csrw    sepc, t0
    csrw    sstatus, t1
    each_register ld
    addi    sp, sp, TRAP_FRAME_SIZE
    sret
    .size   trap_entry, . - trap_entry
