/* SPDX-License-Identifier: Apache-2.0 */
/*
 * First instructions of a bare guest as started by OpenSBI or the hypervisor: S-mode, a0 = hart id,
 * a1 = device tree, translation off, interrupts off. Calls main(hart, dtb) and shuts down when
 * main() returns.
 */
#include "entry_asm.h"

    .section .boot.start, "ax", @progbits
    .globl  _start
    .type   _start, @function
_start:
    enter_c
    la      sp, __stack_top
    mv      s0, a0
    mv      s1, a1
    la      t0, __bss_start
    la      t1, __bss_end       /* both 16-byte aligned by the linker script */
1:  bgeu    t0, t1, 2f
    sd      zero, 0(t0)
    sd      zero, 8(t0)
    addi    t0, t0, 16
    j       1b
2:  mv      a0, s0
    mv      a1, s1
    call    main
    li      a0, 0               /* SBI_RESET_NO_REASON */
    call    sbi_shutdown
    .size   _start, . - _start

/*
 * Entry of a further hart, for sbi_hart_start with the address of a struct hart_boot (trap.h) as
 * opaque value: sets the stack and calls function(hart, argument). When the function returns, the
 * hart stops.
 */
    .section .text.hart_entry, "ax", @progbits
    .globl  hart_entry
    .type   hart_entry, @function
    .balign 4
hart_entry:
    enter_c
    ld      sp, 0(a1)
    ld      t0, 8(a1)
    ld      a1, 16(a1)
    jalr    t0
    call    sbi_hart_stop
1:  wfi
    j       1b
    .size   hart_entry, . - hart_entry
