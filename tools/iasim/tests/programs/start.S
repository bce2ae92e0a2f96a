# SPDX-License-Identifier: Apache-2.0
# Startup code from reset to main(), whose result is the exit code (MIPS UHI: SDBBP 1 with 1 in
# $25).
    .set noreorder
    .section .text.start, "ax"
    .globl _start
_start:
    li $29, 0x80080000
    la $25, main
    jalr $25
    nop
    move $4, $2
    li $25, 1
    sdbbp 1
    b .
    nop
