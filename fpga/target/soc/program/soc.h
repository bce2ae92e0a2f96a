/* SPDX-License-Identifier: Apache-2.0 */
/* The SoC as its test program sees it (fpga/target/soc/rtl/soc_pkg.sv), and what the parts of the
 * program share. */
#ifndef SOC_H
#define SOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fabric_map.h"

#define CLINT 0x02000000UL
#define PLIC 0x0c000000UL
#define UART 0x10000000UL
#define SPI 0x20000000UL
#define BOARD 0x30000000UL
#define NOTHING 0x40000000UL /* in the board's range, but no device of this one */
#define FABRIC 0x50000000UL
#define SHARED (FABRIC + FABRIC_SHARED)
#define UNMAPPED 0x60000000UL
#define ALIAS 0x40000000UL /* from DRAM to its uncached alias */

/* Interrupt sources. */
#define SOURCE_UART 1U
#define SOURCE_SPI 2U
#define SOURCE_BOARD 3U
#define SOURCE_MANAGER 8U
#define SOURCE_VM 9U
#define SOURCE_SHARED_MANAGER 11U
#define SOURCE_SHARED_VM 12U
#define SOURCES 30U
#define VMS 2U

/*
 * Counters of events. The package's core has one for each event. In later ones the first six count
 * what mhpmevent selects (CVA6's manual, "Event Selector"): 1 and 2 misses of the caches, 6 stores,
 * 10 mispredicted branches.
 */
#ifdef CORE_WITH_H
#define CSR_DCACHE "0x7c1"
#define COUNTER_STORES "mhpmcounter5"
#define COUNTER_MISPREDICTED "mhpmcounter6"
#define SELECT_EVENTS \
    "csrwi mhpmevent3, 1; csrwi mhpmevent4, 2; csrwi mhpmevent5, 6; csrwi mhpmevent6, 10"
#else
#define CSR_DCACHE "0x701"
#define COUNTER_STORES "mhpmcounter8"
#define COUNTER_MISPREDICTED "mhpmcounter14"
#define SELECT_EVENTS ""
#endif

#define CAUSE_INTERRUPT (UINT64_C(1) << 63)
#define CAUSE_SOFTWARE (CAUSE_INTERRUPT | 3U)
#define CAUSE_TIMER (CAUSE_INTERRUPT | 7U)
#define CAUSE_EXTERNAL (CAUSE_INTERRUPT | 11U)

static inline volatile uint64_t *at64(uintptr_t address)
{
    return (volatile uint64_t *)address;
}

static inline volatile uint32_t *at32(uintptr_t address)
{
    return (volatile uint32_t *)address;
}

static inline volatile uint8_t *at8(uintptr_t address)
{
    return (volatile uint8_t *)address;
}

/** The core's cycles. */
static inline uint64_t cycles(void)
{
    uint64_t value;

    __asm__ volatile("csrr %0, mcycle" : "=r"(value)::"memory");
    return value;
}

/**
 * Cycles of a statement without those of the measurement. The last of three times counts: the
 * caches have its instructions then.
 */
#define MEASURE(result, statement)                                     \
    do {                                                               \
        for (unsigned int measured_ = 0; measured_ < 3; measured_++) { \
            uint64_t empty_ = cycles(), begin_ = cycles(), end_;       \
            statement;                                                 \
            end_ = cycles();                                           \
            (result) = (end_ - begin_) - (begin_ - empty_);            \
        }                                                              \
    } while (0)

static inline void fence(void)
{
    __asm__ volatile("fence" ::: "memory");
}

/**
 * Makes the data cache empty, which is write-through: off and on again (CVA6's CSR dcache, 0x701 in
 * the package's core, 0x7c1 in later ones).
 */
static inline void flush_data_cache(void)
{
    __asm__ volatile("fence; csrwi " CSR_DCACHE ", 0; csrwi " CSR_DCACHE ", 1" ::: "memory");
}

/** The same bytes, without the data cache. */
static inline void *uncached(const volatile void *memory)
{
    return (void *)((uintptr_t)memory + ALIAS);
}

/* ---- check.c: what the test reads ---- */

/** Prints `check NAME VALUE` if the value is the expected one, else `wrong NAME VALUE EXPECTED`,
 * which ends in an error. */
void check(const char *name, uint64_t value, uint64_t expected);

/** Prints `cycles NAME VALUE`. */
void report(const char *name, uint64_t value);

/** The exit code: 0 if nothing was wrong. */
unsigned int checks_failed(void);

/* ---- trap.c ---- */

/** Enables the PLIC's sources of the program and interrupts. */
void traps_start(void);

/** Interrupts of a source since the last call. */
unsigned int interrupts_taken(unsigned int source);

/** Sleeps until a source has interrupted. */
void interrupt_wait(unsigned int source);

/** Interrupts wait from here on, or no longer. */
static inline void interrupts_off(void)
{
    __asm__ volatile("csrci mstatus, 8" ::: "memory");
}

static inline void interrupts_on(void)
{
    __asm__ volatile("csrsi mstatus, 8" ::: "memory");
}

/** Cycle of the trap, and after the claim, of the last external interrupt. */
uint64_t interrupt_trapped(void);
uint64_t interrupt_claimed(void);

/** Exceptions since the last call. */
unsigned int exceptions_taken(void);

/** Interrupts of timer and software since the last call. */
unsigned int timers_taken(void);
unsigned int software_taken(void);

/** Called by trap_entry; returns where to continue. */
uint64_t trap_handle(uint64_t cycle, uint64_t cause, uint64_t pc);

/* ---- the parts ---- */

void test_buses(void);
void test_peripherals(void);
void test_accelerators(void);
void test_cache(void);
void test_sorter(void);
void test_clear(void);
void test_shared(void);
void test_costs(void);
void test_privileged(void);

/** Requests a region for a VM's device, and waits for the answer. */
uint64_t region_request(unsigned int vm);

/** Sets the registers of a VM's connected device for a job of so many bytes; START is left to the
 * caller. */
void job_prepare(unsigned int vm, uint32_t bytes);

/** Registers of the fabric. */
static inline volatile uint64_t *fabric(uintptr_t offset)
{
    return at64(FABRIC + offset);
}

static inline volatile uint32_t *interface32(unsigned int vm, uintptr_t offset)
{
    return at32(FABRIC + FABRIC_IFS + 16U * vm * FABRIC_IF_STRIDE + offset);
}

static inline volatile uint64_t *interface64(unsigned int vm, uintptr_t offset)
{
    return at64(FABRIC + FABRIC_IFS + 16U * vm * FABRIC_IF_STRIDE + offset);
}

/** Registers of the shared devices: the manager's, and a VM's page for a device. */
static inline volatile uint64_t *shared(uintptr_t offset)
{
    return at64(SHARED + offset);
}

static inline volatile uint64_t *shared_page(unsigned int vm, unsigned int device, uintptr_t offset)
{
    return at64(FABRIC + FABRIC_SHARED_PAGES + (16U * vm + device) * FABRIC_SHARED_PAGE_STRIDE +
                offset);
}

/** Events of the accelerators' manager since the last call. */
uint64_t manager_events(void);

#endif
