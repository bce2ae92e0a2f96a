/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Coprocessor 0 registers as inline functions: cp0_read_status(), cp0_write_compare(v), ... A macro
 * defines each pair, so that a register is named once. EHB after each write makes the write
 * effective for the next instruction.
 */
#ifndef GUEST_CP0_H
#define GUEST_CP0_H

#define STATUS_IE 0x1
#define STATUS_EXL 0x2
#define STATUS_ERL 0x4
#define STATUS_UM 0x10
#define STATUS_IM 0xff00
#define STATUS_BEV 0x00400000
#define STATUS_CU0 0x10000000

#define CAUSE_IV 0x00800000
#define CAUSE_DC 0x08000000
#define CAUSE_TI 0x40000000
#define CAUSE_BD 0x80000000
#define CAUSE_CODE_SHIFT 2
#define CAUSE_CODE_BITS 5
#define CAUSE_LINES_SHIFT 8
#define CAUSE_LEVEL_SHIFT 10

/* Cause.ExcCode */
#define EXCEPTION_INTERRUPT 0
#define EXCEPTION_MODIFIED 1
#define EXCEPTION_TLB_LOAD 2
#define EXCEPTION_TLB_STORE 3
#define EXCEPTION_ADDRESS_LOAD 4
#define EXCEPTION_ADDRESS_STORE 5
#define EXCEPTION_BUS_FETCH 6
#define EXCEPTION_BUS_DATA 7
#define EXCEPTION_SYSCALL 8
#define EXCEPTION_BREAKPOINT 9
#define EXCEPTION_RESERVED 10
#define EXCEPTION_COPROCESSOR 11

#define CONFIG3_VEIC 0x40

/* Encoding of HYPCALL with code 0, and the mask of the bits that do not depend on the code. */
#define HYPCALL_WORD 0x42000028
#define HYPCALL_MASK 0xffe007ff

#ifndef __ASSEMBLER__

#include <stdint.h>

#define CP0_READ(name, number, select)                                                  \
    static inline uint32_t cp0_read_##name(void)                                        \
    {                                                                                   \
        uint32_t value;                                                                 \
        __asm__ volatile("mfc0 %0, $" #number ", " #select : "=r"(value) : : "memory"); \
        return value;                                                                   \
    }

#define CP0_WRITE(name, number, select)                                                          \
    static inline void cp0_write_##name(uint32_t value)                                          \
    {                                                                                            \
        __asm__ volatile("mtc0 %0, $" #number ", " #select "\n\tehb" : : "r"(value) : "memory"); \
    }

#define CP0(name, number, select)  \
    CP0_READ(name, number, select) \
    CP0_WRITE(name, number, select)

CP0(index, 0, 0)
CP0(entrylo0, 2, 0)
CP0(entrylo1, 3, 0)
CP0(userlocal, 4, 2)
CP0(pagemask, 5, 0)
CP0(pagegrain, 5, 1)
CP0(wired, 6, 0)
CP0_READ(badvaddr, 8, 0)
CP0_READ(badinstr, 8, 1)
CP0(count, 9, 0)
CP0(entryhi, 10, 0)
CP0(compare, 11, 0)
CP0(status, 12, 0)
CP0(intctl, 12, 1)
CP0(srsctl, 12, 2)
CP0(cause, 13, 0)
CP0(epc, 14, 0)
CP0_READ(prid, 15, 0)
CP0(ebase, 15, 1)
CP0(config, 16, 0)
CP0_READ(config1, 16, 1)
CP0_READ(config3, 16, 3)
CP0(kscratch1, 31, 2)

/* Disables interrupts; returns the previous Status. */
static inline uint32_t cp0_di(void)
{
    uint32_t status;

    __asm__ volatile("di %0\n\tehb" : "=r"(status) : : "memory");
    return status;
}

static inline void cp0_ei(void)
{
    __asm__ volatile("ei\n\tehb" : : : "memory");
}

/*
 * Sleeps until an interrupt enabled in Status.IM is pending, regardless of Status.IE. May return
 * early.
 */
static inline void cp0_wait(void)
{
    __asm__ volatile("wait" : : : "memory");
}

#endif
#endif
