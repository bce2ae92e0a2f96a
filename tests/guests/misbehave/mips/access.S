/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses that may trap, none in a delay slot, so that the handler can resume after them. */
    .set    noreorder

    .section .text.arch_load, "ax", @progbits
    .globl  arch_load
    .type   arch_load, @function
arch_load:                      /* uint32_t arch_load(address): 0 if it traps */
    move    $2, $0
    lw      $2, 0($4)
    jr      $31
    nop
    .size   arch_load, . - arch_load

    .section .text.arch_store, "ax", @progbits
    .globl  arch_store
    .type   arch_store, @function
arch_store:                     /* void arch_store(address, value) */
    sw      $5, 0($4)
    jr      $31
    nop
    .size   arch_store, . - arch_store

/* void arch_call(address): calls a function, or an unmapped address. */
    .section .text.arch_call, "ax", @progbits
    .globl  arch_call
    .type   arch_call, @function
arch_call:
    addiu   $29, $29, -24
    sw      $31, 20($29)
    lui     $8, %hi(1f)
    addiu   $8, $8, %lo(1f)
    lui     $9, %hi(misbehave_return)
    sw      $8, %lo(misbehave_return)($9)
    jalr    $4
    nop
1:  lw      $31, 20($29)
    jr      $31
    addiu   $29, $29, 24
    .size   arch_call, . - arch_call

    .section .bss.misbehave_return, "aw", @nobits
    .globl  misbehave_return
    .balign 4
misbehave_return:                  /* owner: arch_call */
    .skip   4
