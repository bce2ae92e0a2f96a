/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a call and returns, whatever the call did to the CSRs. The call uses a0 to a7 only. */
#include "fuzz.h"

    .macro saved op                 /* ra, sp, gp, s0-s11 */
    \op     ra, FUZZ_CALL_SAVED(tp)
    \op     sp, FUZZ_CALL_SAVED+8(tp)
    \op     gp, FUZZ_CALL_SAVED+16(tp)
    \op     s0, FUZZ_CALL_SAVED+24(tp)
    \op     s1, FUZZ_CALL_SAVED+32(tp)
    .irp    n, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
    \op     s\n, FUZZ_CALL_SAVED+24+8*\n(tp)
    .endr
    .endm

    .macro arguments op
    .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
    \op     a\n, 8*\n(tp)
    .endr
    .endm

    .text
    .globl  fuzz_run
fuzz_run:
    mv      tp, a0
    saved   sd
    li      t0, -1
    sd      t0, FUZZ_CALL_CAUSE(tp)
    la      t0, fuzz_trap
    csrw    stvec, t0
    la      t1, fuzz_back           /* return address of the code, by jr t1 */
    addi    t0, tp, FUZZ_CALL_CODE
    arguments ld
    jr      t0

    .balign 4
fuzz_back:
    csrw    satp, zero
    csrw    sie, zero
    li      t0, 0x7fffffff          /* clears all of sstatus that the call may have set, including FS */
    csrc    sstatus, t0
    arguments sd
    saved   ld
    ret

    .balign 4
    .globl  fuzz_trap
fuzz_trap:
    sd      t0, FUZZ_CALL_T0(tp)
    csrr    t0, scause
    bltz    t0, 1f
    sd      t0, FUZZ_CALL_CAUSE(tp)
    la      t0, fuzz_back
    csrw    sepc, t0
    li      t0, 0x100               /* SPP */
    csrs    sstatus, t0
    sret
1:  sd      t1, FUZZ_CALL_T1(tp)    /* an interrupt that the call has enabled: disable it */
    li      t1, 1
    sll     t1, t1, t0
    csrc    sie, t1
    ld      t1, FUZZ_CALL_T1(tp)
    ld      t0, FUZZ_CALL_T0(tp)
    sret

    /* a0: the hart */
    .globl  fuzz_hart_entry
fuzz_hart_entry:
    csrw    sie, zero
    li      t0, 1
    bgtu    a0, t0, 2f
1:  .option push
    .option norelax
    la      gp, __global_pointer$
    .option pop
    la      t0, fuzz_trap
    csrw    stvec, t0
    la      sp, fuzz_stacks
    addi    t1, a0, 1
    li      t2, FUZZ_STACK
    mul     t1, t1, t2
    add     sp, sp, t1
    call    fuzz_stream             /* (slot) */
2:  wfi
    j       2b

    /* a0: the app, of 4 */
    .balign 4
    .globl  fuzz_app_entry
fuzz_app_entry:
    andi    a0, a0, 3
    addi    a0, a0, 2              /* slots after the harts */
    j       1b

    .bss
    .balign 16
    .globl  fuzz_stacks
fuzz_stacks:
    .skip   6 * FUZZ_STACK
