/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clears the guest's LLbit. A VCPU may lose the CPU after LL; if LLbit stayed set, SC could succeed
 * although another VCPU has written to the address. On this core only ERET in a guest clears LLbit,
 * so this code runs two instructions as a guest with a reserved GuestID.
 */
#include "asm_layout.h"
#include "asm_offsets.h"
#include "cp0.h"
#include "isa.h"

    .set    noreorder
    .set    noat
    .set    virt

    .section .text.trap, "ax"

    CALLED_BY_C
    /* (vcpu). The VCPU's state is loaded, except its controls and the registers that are used here.
     * Preserves what the C ABI preserves. */
    .globl  link_clear
link_clear:
    li      $t0, GUEST_ID_LINK << GUESTCTL1_RID_SHIFT | GUEST_ID_LINK
    mtc0    $t0, CP0_GUESTCTL1
    li      $t0, STATUS_EXL         /* of the guest; cleared by ERET, still without interrupts */
    mtgc0   $t0, CP0_STATUS
    la      $t1, link_stub
    andi    $t1, $t1, 0xfff         /* this page is the guest's page 0 */
    lui     $t2, %hi(KSEG0)
    addu    $t1, $t1, $t2
    mtc0    $t1, CP0_EPC
    addiu   $t1, $t1, 4
    mtgc0   $t1, CP0_EPC
    mfc0    $t1, CP0_STATUS         /* of root: no interrupts either */
    ins     $t1, $zero, 0, 1
    mtc0    $t1, CP0_STATUS
    li      $k1, 0
    ehb
    eret
    END_CALLED_BY_C

    /* From trap.S. a0 and ra are unchanged. */
    .globl  link_cleared
link_cleared:
    mfc0    $t1, CP0_STATUS
    ori     $t1, $t1, STATUS_IE
    mtc0    $t1, CP0_STATUS
    lw      $t0, VCPU_GUESTCTL1($a0)
    mtc0    $t0, CP0_GUESTCTL1
    lw      $t0, VCPU_PC($a0)
    mtc0    $t0, CP0_EPC
    lw      $t0, VCPU_STATUS($a0)
    mtgc0   $t0, CP0_STATUS
    lw      $t0, VCPU_EPC($a0)
    mtgc0   $t0, CP0_EPC
    jr      $ra
    ehb

    .balign 8
    .globl  link_stub
link_stub:                          /* runs as guest; both instructions must lie in one page */
    eret
    hypcall HYPCALL_LINK
