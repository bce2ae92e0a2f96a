# SPDX-License-Identifier: Apache-2.0
# A minimal hypervisor: maps a guest's memory, assigns shadow set 1 to the guest, enters the guest
# and handles its hypercalls. The guest makes a hundred calls and returns their number, which
# becomes the exit code.
    .set noreorder
    .set noat
    .set virt

    .section .boot, "ax"
    .globl _start
_start:
    mtc0 $0, $13            # Cause
    li $8, 0x00010001       # GuestCtl1: ID and RID are 1
    mtc0 $8, $10, 4
    mtc0 $0, $5             # PageMask: 4 KiB
    mtc0 $0, $10            # EntryHi: guest physical 0
    li $8, 0x41E            # EntryLo0: physical 0x10000, cacheable, dirty, valid
    mtc0 $8, $2
    li $8, 0x45E
    mtc0 $8, $3
    mtc0 $0, $0             # Index
    ehb
    tlbwi
    li $8, 1
    mtc0 $8, $10, 6         # GuestCtl3: lowest shadow set of the guest
    li $8, 0x40
    mtc0 $8, $12, 2         # SRSCtl: PSS = 1, which ERET selects
    mtgc0 $0, $12           # Guest.Status
    li $8, 0x9D800080       # GuestCtl0: GM, CP0, AT=3, CG, CF
    mtc0 $8, $12, 6
    lui $8, %hi(guest_start)
    addiu $8, $8, %lo(guest_start)
    mtc0 $8, $14            # EPC
    li $8, 2
    mtc0 $8, $12            # Status: EXL only
    ehb
    eret

    .section .vectors, "ax"
    .globl handler
handler:
    mfc0 $8, $8, 1          # BadInstr
    ext $9, $8, 11, 10      # the hypercall's code
    bnez $9, done
    mfc0 $8, $14
    addiu $8, $8, 4
    mtc0 $8, $14
    ehb
    eret
done:
    .word 0x41502000        # rdpgpr $4, $16, not supported by clang
    li $25, 1
    sdbbp 1

    .section .guest, "ax"
    .globl guest_start
guest_start:
    li $16, 0
again:
    sltiu $0, $0, 1
    hypcall
    sltiu $0, $0, 2
    addiu $16, $16, 1
    sltiu $8, $16, 100
    bnez $8, again
    nop
    hypcall 1
