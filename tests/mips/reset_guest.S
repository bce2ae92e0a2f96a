# SPDX-License-Identifier: Apache-2.0
# A guest that prints R if Count runs after its start, or S if Cause.DC stops it; it then stops Count
# and resets its VM. Without start.S of the SDK, which writes Cause.
    .set noreorder
    .set noat
    .set virt

    .globl _start
_start:
    mfc0  $8, $13               # Cause
    lui   $9, 0x0800            # DC
    and   $8, $8, $9
    li    $10, 'R'
    li    $11, 'S'
    movn  $10, $11, $8
    lui   $12, 0xbfd0           # the UART
    sb    $10, 0x3f8($12)
    li    $10, '\n'
    sb    $10, 0x3f8($12)
    mtc0  $9, $13
    ehb
    li    $4, 1                 # reset
    hypcall 1
1:  b     1b
    nop
