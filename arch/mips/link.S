/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guest's LLbit, which a VCPU may have set by LL before it lost the CPU: were it still set when that comes back,
 * its SC could succeed although another one has written there meanwhile. Nothing of the root's clears it on this core,
 * only ERET in a guest. So a guest of our own is made for two instructions, with a GuestID of its own.
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
    /* (vcpu), whose state is loaded, but for the controls and what is here. Preserves what C preserves. */
    .globl  link_clear
link_clear:
    li      $t0, GUEST_ID_LINK << GUESTCTL1_RID_SHIFT | GUEST_ID_LINK
    mtc0    $t0, CP0_GUESTCTL1
    li      $t0, STATUS_EXL         /* of the guest; no interrupts once that is cleared */
    mtgc0   $t0, CP0_STATUS
    la      $t1, link_stub
    andi    $t1, $t1, 0xfff         /* the page is the guest's page 0 */
    lui     $t2, %hi(KSEG0)
    addu    $t1, $t1, $t2
    mtc0    $t1, CP0_EPC
    addiu   $t1, $t1, 4
    mtgc0   $t1, CP0_EPC
    mfc0    $t1, CP0_STATUS         /* ours: no interrupts either */
    ins     $t1, $zero, 0, 1
    mtc0    $t1, CP0_STATUS
    li      $k1, 0
    ehb
    eret
    END_CALLED_BY_C

    /* From trap.S. a0 and ra are as they were. */
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
link_stub:                          /* in the guest: both lie in one page */
    eret
    hypcall HYPCALL_LINK
