# SPDX-License-Identifier: Apache-2.0
# A guest that stops Count, prints S, and prints T and shuts down if Cause.TI appears. It has no exits
# while it waits.
    .set noreorder
    .set noat
    .set virt

    .globl _start
_start:
    lui   $9, 0x0800            # DC
    mtc0  $9, $13
    ehb
    lui   $12, 0xbfd0           # the UART
    li    $10, 'S'
    sb    $10, 0x3f8($12)
    li    $10, '\n'
    sb    $10, 0x3f8($12)
    lui   $9, 0x4000            # TI
1:  mfc0  $8, $13               # Cause
    and   $8, $8, $9
    beqz  $8, 1b
    nop
    li    $10, 'T'
    sb    $10, 0x3f8($12)
    li    $10, '\n'
    sb    $10, 0x3f8($12)
    li    $4, 0                 # off
    hypcall 1
2:  b     2b
    nop
