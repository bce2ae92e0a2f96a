# SPDX-License-Identifier: Apache-2.0
# A guest that executes random words (random_guest.py) at 0x80002000. After every exception, the
# handler continues at another word, selected by Count and a counter. The vectors are copied to the
# reset value of EBase.
    .set noreorder
    .set noat

    .macro sane                 # addresses in memory, of the UART, unmapped ones; the number of a hypercall
    li    $4, 0x80004000
    li    $5, 0xa0006000
    li    $6, 0xbfd003f8
    li    $7, 0x80008000
    li    $12, 0x8000bffc
    li    $13, 0x00004000       # guest-physical, for hypercalls
    li    $14, 0x80010000
    li    $15, 0xbf800000
    li    $17, 1
    .endm

    .globl _start
_start:
    lui   $26, 0x8000
    mtc0  $26, $15, 1           # EBase
    mtc0  $0, $13
    lui   $27, 0x1000
    mtc0  $27, $12              # Status: CU0, no BEV, no ERL
    ehb
    la    $8, vectors
    li    $10, 0x400
1:  lw    $11, 0($8)
    sw    $11, 0($26)
    addiu $8, $8, 4
    addiu $10, $10, -4
    bnez  $10, 1b
    addiu $26, $26, 4
    sane
    break

    .balign 1024
vectors:
    b     handler
    nop
    .org  vectors + 0x180
    b     handler
    nop
    .org  vectors + 0x200
    b     handler
    nop
    .org  vectors + 0x240
handler:
    mfc0  $26, $9               # Count
    mfc0  $27, $31, 2           # KScratch1
    xor   $26, $26, $27
    sll   $27, $26, 13          # xorshift32
    xor   $26, $26, $27
    srl   $27, $26, 17
    xor   $26, $26, $27
    sll   $27, $26, 5
    xor   $26, $26, $27
    mtc0  $26, $31, 2
    andi  $27, $26, 0x1f        # once in a while all that random words have left is put right
    bnez  $27, 2f
    lui   $27, 0x1000
    mtc0  $27, $12
    lui   $27, 0x8000
    mtc0  $27, $15, 1
    sane
    andi  $2, $26, 0x3f
2:  srl   $26, $26, 3
    andi  $26, $26, 0x7ffc
    lui   $27, 0x8000
    or    $26, $26, $27
    addiu $26, $26, 0x2000
    mfc0  $27, $12
    ins   $27, $0, 2, 1         # ERL, BEV
    ins   $27, $0, 22, 1
    ori   $27, $27, 2
    mtc0  $27, $12
    mtc0  $26, $14
    ehb
    eret
