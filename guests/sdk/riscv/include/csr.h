/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Supervisor CSRs as inline functions: csr_read_sstatus(), csr_write_stvec(v), csr_set_sie(bits),
 * csr_clear_sip(bits). A macro defines each family, so that a CSR is named once. Functions instead
 * of statement expressions keep the headers plain C.
 */
#ifndef GUEST_CSR_H
#define GUEST_CSR_H

#define SSTATUS_SIE 0x2UL
#define SSTATUS_SPIE 0x20UL
#define SSTATUS_SPP 0x100UL
#define SSTATUS_FS 0x6000UL /* state of the FP unit: off, initial, clean, dirty */
#define SSTATUS_FS_INITIAL 0x2000UL
#define SSTATUS_FS_CLEAN 0x4000UL
#define SSTATUS_FS_DIRTY 0x6000UL

/* Bits of sie and sip; the same numbers are the interrupt causes. */
#define IRQ_SOFT 1UL
#define IRQ_TIMER 5UL
#define IRQ_EXTERNAL 9UL
#define SIE_SOFT (1UL << IRQ_SOFT)
#define SIE_TIMER (1UL << IRQ_TIMER)
#define SIE_EXTERNAL (1UL << IRQ_EXTERNAL)

#define CAUSE_INTERRUPT (1UL << 63)
#define CAUSE_INSTRUCTION_ACCESS 1UL
#define CAUSE_ILLEGAL_INSTRUCTION 2UL
#define CAUSE_BREAKPOINT 3UL
#define CAUSE_LOAD_ACCESS 5UL
#define CAUSE_STORE_ACCESS 7UL

/* Assemblers of 2022 do not know Sstc's register by name. */
#define CSR_STIMECMP 0x14d

#ifndef __ASSEMBLER__

#include <stdint.h>

#define CSR_STRING_(x) #x
#define CSR_STRING(x) CSR_STRING_(x)

#define CSR_READ_FUNCTION(name, csr)                                              \
    static inline uint64_t csr_read_##name(void)                                  \
    {                                                                             \
        uint64_t value;                                                           \
        __asm__ volatile("csrr %0, " CSR_STRING(csr) : "=r"(value) : : "memory"); \
        return value;                                                             \
    }

#define CSR_WRITE_FUNCTION(name, verb, op, csr)                                      \
    static inline void csr_##verb##_##name(uint64_t value)                           \
    {                                                                                \
        __asm__ volatile(#op " " CSR_STRING(csr) ", %0" : : "rK"(value) : "memory"); \
    }

#define CSR_FUNCTIONS(name, csr)               \
    CSR_READ_FUNCTION(name, csr)               \
    CSR_WRITE_FUNCTION(name, write, csrw, csr) \
    CSR_WRITE_FUNCTION(name, set, csrs, csr)   \
    CSR_WRITE_FUNCTION(name, clear, csrc, csr)

CSR_FUNCTIONS(sstatus, sstatus)
CSR_FUNCTIONS(sie, sie)
CSR_FUNCTIONS(sip, sip)
CSR_FUNCTIONS(stvec, stvec)
CSR_FUNCTIONS(stimecmp, CSR_STIMECMP)
CSR_READ_FUNCTION(scause, scause)
CSR_READ_FUNCTION(stval, stval)
CSR_READ_FUNCTION(sepc, sepc)
CSR_READ_FUNCTION(time, time)
CSR_READ_FUNCTION(instret, instret)

/** Clears bits of sip; returns those of them that were set. */
static inline uint64_t csr_take_sip(uint64_t bits)
{
    uint64_t before;

    __asm__ volatile("csrrc %0, sip, %1" : "=r"(before) : "r"(bits) : "memory");
    return before & bits;
}

/*
 * Sleeps until an interrupt enabled in sie is pending, regardless of sstatus.SIE. May return early.
 */
static inline void csr_wait_for_interrupt(void)
{
    __asm__ volatile("wfi" : : : "memory");
}

#endif
#endif
