/* SPDX-License-Identifier: Apache-2.0 */
/* Entry at reset: uncached, TLB empty, registers undefined, Status.BEV and ERL set. Prepares the
 * caches, .data, .bss, the vectors and the hypervisor's shadow set, then calls boot_first()
 * (main.c) and runs the first VCPU. Owns boot_stack, the hypervisor's only stack. */
#include "asm_layout.h"
#include "asm_offsets.h"
#include "cp0.h"

    .set    noreorder
    .set    noat
    .set    virt

    /* At the reset vector, in the board's boot ROM. */
    .section .reset, "ax"
    .globl  _start
_start:
    la      $t0, boot
    jr      $t0
    nop
    .org    _start + 0x480          /* debug.S follows here */

    .section .text.boot, "ax"
boot:
    /* Caches that hardware does not initialize get invalid tags. Config.K0 then makes kseg0
     * cached. */
    mfc0    $t0, CP0_CONFIG7
    li      $t1, CONFIG7_HCI
    and     $t0, $t0, $t1
    bnez    $t0, 2f
    lui     $t0, %hi(KSEG0)
    mtc0    $zero, $28, 0           /* TagLo */
    mtc0    $zero, $29, 0           /* TagHi */
    li      $t1, 0x4000             /* sets times line size of the largest supported cache */
    addu    $t1, $t1, $t0
1:  cache   0x08, 0($t0)            /* index store tag: instructions */
    cache   0x09, 0($t0)            /* and data */
    addiu   $t0, $t0, 16
    bne     $t0, $t1, 1b
    nop
2:  mfc0    $t0, CP0_CONFIG
    li      $t1, 3
    ins     $t0, $t1, 0, 3
    mtc0    $t0, CP0_CONFIG
    ehb

    /* Copy .data from the image and clear .bss. */
    la      $t0, __data_load
    la      $t1, __data_start
    la      $t2, __data_end
    la      $t3, __bss_end
3:  beq     $t1, $t2, 4f
    nop
    lw      $t4, 0($t0)
    addiu   $t0, $t0, 4
    sw      $t4, 0($t1)
    b       3b
    addiu   $t1, $t1, 4
4:  beq     $t1, $t3, 5f
    nop
    sw      $zero, 0($t1)
    b       4b
    addiu   $t1, $t1, 4
5:

    /* Exceptions use the hypervisor's vectors and switch to the highest shadow set. ERET makes this
     * set current now, too; with GM=0 it returns to root mode. EXL stays 1 from there on. */
    la      $t0, vectors
    mtc0    $t0, CP0_EBASE
    mtc0    $zero, CP0_INTCTL
    li      $t0, CAUSE_IV
    mtc0    $t0, CP0_CAUSE
    mfc0    $t0, CP0_SRSCTL
    ext     $t1, $t0, SRSCTL_HSS_SHIFT, 4
    ins     $t0, $t1, SRSCTL_ESS_SHIFT, 4
    ins     $t0, $t1, SRSCTL_PSS_SHIFT, 4
    mtc0    $t0, CP0_SRSCTL
    li      $t0, GUESTCTL0_CP0
    mtc0    $t0, CP0_GUESTCTL0
    la      $t0, own_bank
    mtc0    $t0, CP0_EPC
    li      $t0, STATUS_EXL
    mtc0    $t0, CP0_STATUS
    ehb
    eret
own_bank:
    li      $t0, STATUS_EXL | STATUS_IE
    mtc0    $t0, CP0_STATUS
    ehb
    li      $k1, 1
    la      $gp, mips_cpu
    la      $sp, boot_stack
    jal     boot_first
    nop
    j       run
    nop

    .section .bss
    .balign 8
    .skip   STACK_SIZE
    .globl  boot_stack
boot_stack:                         /* the empty stack */
