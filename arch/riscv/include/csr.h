/* SPDX-License-Identifier: Apache-2.0 */
/* CSRs by number (RISC-V Privileged Architecture 1.12, table 4 and following), so that any
 * assembler can be used. */
#ifndef CSR_H
#define CSR_H

#ifdef __ASSEMBLER__
#define CSR_UL(x) x
#else
#define CSR_UL(x) x##UL
#endif

#define CSR_FFLAGS 0x001
#define CSR_FCSR 0x003
#define CSR_SSTATUS 0x100
#define CSR_SIE 0x104
#define CSR_STVEC 0x105
#define CSR_SCOUNTEREN 0x106
#define CSR_SENVCFG 0x10a
#define CSR_SSCRATCH 0x140
#define CSR_SEPC 0x141
#define CSR_SCAUSE 0x142
#define CSR_STVAL 0x143
#define CSR_SIP 0x144
#define CSR_STIMECMP 0x14d
#define CSR_SATP 0x180
#define CSR_VSSTATUS 0x200
#define CSR_VSIE 0x204
#define CSR_VSTVEC 0x205
#define CSR_VSSCRATCH 0x240
#define CSR_VSEPC 0x241
#define CSR_VSCAUSE 0x242
#define CSR_VSTVAL 0x243
#define CSR_VSTIMECMP 0x24d
#define CSR_VSATP 0x280
#define CSR_HSTATUS 0x600
#define CSR_HEDELEG 0x602
#define CSR_HIDELEG 0x603
#define CSR_HIE 0x604
#define CSR_HTIMEDELTA 0x605
#define CSR_HCOUNTEREN 0x606
#define CSR_HGEIE 0x607
#define CSR_HENVCFG 0x60a
#define CSR_HSTATEEN0 0x60c
#define CSR_HTVAL 0x643
#define CSR_HIP 0x644
#define CSR_HVIP 0x645
#define CSR_HTINST 0x64a
#define CSR_HGATP 0x680
#define CSR_TIME 0xc01
#define CSR_INSTRET 0xc02

#define SSTATUS_SIE (CSR_UL(1) << 1)
#define SSTATUS_SPIE (CSR_UL(1) << 5)
#define SSTATUS_SPP (CSR_UL(1) << 8)
#define SSTATUS_FS (CSR_UL(3) << 13)
#define SSTATUS_FS_CLEAN (CSR_UL(2) << 13)
#define SSTATUS_FS_DIRTY (CSR_UL(3) << 13)

#define HSTATUS_SPV (CSR_UL(1) << 7)
#define HSTATUS_SPVP (CSR_UL(1) << 8)
#define HSTATUS_VTW (CSR_UL(1) << 21)
#define HSTATUS_VSXL_64 (CSR_UL(2) << 32)

#define HENVCFG_STCE (CSR_UL(1) << 63)
#define HENVCFG_PBMTE (CSR_UL(1) << 62)
#define HENVCFG_ADUE (CSR_UL(1) << 61)
#define HENVCFG_CBZE (CSR_UL(1) << 7)
#define HENVCFG_CBCFE (CSR_UL(1) << 6)
/* cbo.inval flushes: it must not reveal old memory contents */
#define HENVCFG_CBIE (CSR_UL(1) << 4)
#define HENVCFG_FIOM (CSR_UL(1) << 0)

#define HSTATEEN0_ENVCFG (CSR_UL(1) << 62)

#define HCOUNTEREN_CY (CSR_UL(1) << 0)
#define HCOUNTEREN_TM (CSR_UL(1) << 1)
#define HCOUNTEREN_IR (CSR_UL(1) << 2)

/* Interrupt numbers: bits in sip, sie, hvip and hideleg. */
#define IRQ_SSI 1
#define IRQ_VSSI 2
#define IRQ_STI 5
#define IRQ_VSTI 6
#define IRQ_SEI 9
#define IRQ_VSEI 10

#define CAUSE_FETCH_MISALIGNED 0
#define CAUSE_FETCH_ACCESS 1
#define CAUSE_ILLEGAL 2
#define CAUSE_BREAKPOINT 3
#define CAUSE_LOAD_MISALIGNED 4
#define CAUSE_LOAD_ACCESS 5
#define CAUSE_STORE_MISALIGNED 6
#define CAUSE_STORE_ACCESS 7
#define CAUSE_ECALL_U 8
#define CAUSE_ECALL_VS 10
#define CAUSE_FETCH_PAGE 12
#define CAUSE_LOAD_PAGE 13
#define CAUSE_STORE_PAGE 15
#define CAUSE_FETCH_GUEST_PAGE 20
#define CAUSE_LOAD_GUEST_PAGE 21
#define CAUSE_VIRTUAL 22
#define CAUSE_STORE_GUEST_PAGE 23

#ifndef __ASSEMBLER__

#define CSR_STR_(x) #x
#define CSR_STR(x) CSR_STR_(x)

#define csr_read(csr)                                                            \
    __extension__({                                                              \
        unsigned long csr_value_;                                                \
        __asm__ volatile("csrr %0, " CSR_STR(csr) : "=r"(csr_value_)::"memory"); \
        csr_value_;                                                              \
    })
#define csr_write(csr, value) \
    __asm__ volatile("csrw " CSR_STR(csr) ", %0" ::"rK"((unsigned long)(value)) : "memory")
#define csr_set(csr, bits) \
    __asm__ volatile("csrs " CSR_STR(csr) ", %0" ::"rK"((unsigned long)(bits)) : "memory")
#define csr_clear(csr, bits) \
    __asm__ volatile("csrc " CSR_STR(csr) ", %0" ::"rK"((unsigned long)(bits)) : "memory")

#endif
#endif
