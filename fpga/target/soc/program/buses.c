/* SPDX-License-Identifier: Apache-2.0 */
/* What an access costs, where nothing answers, and atomics. */
#include "soc.h"

#define SCRATCH (*interface32(0, FABRIC_IF_CUSTOM))
#define SCRATCH_AT(n) (*interface32(0, FABRIC_IF_CUSTOM + 4U * (n)))
#define PLIC_THRESHOLD (PLIC + 0x200000U)
#define CLINT_TIME (CLINT + 0xbff8U)
#define UART_SCRATCH (UART + 4U * 7U)

static uint64_t word[8] __attribute__((aligned(64))); /* owner: this file */

static void eight_reads(void)
{
    for (unsigned int i = 0; i < 8; i++) {
        (void)*fabric(FABRIC_REGS_ID);
    }
}

static void eight_writes(void)
{
    for (unsigned int i = 0; i < 8; i++) {
        SCRATCH_AT(i) = i;
    }
    fence();
}

static inline void write_scratch(void)
{
    SCRATCH = 1;
}

static inline void write_byte(uintptr_t address)
{
    *at8(address) = 1;
    fence();
}

static inline void write_word(uintptr_t address)
{
    *at64(address) = 1;
    fence();
}

static void test_accesses(void)
{
    uint64_t taken;

    MEASURE(taken, (void)*fabric(FABRIC_REGS_ID));
    report("fabric_read", taken);
    MEASURE(taken, (void)*shared(FABRIC_SHARED_ID));
    report("shared_read", taken);
    MEASURE(taken, eight_reads());
    report("fabric_read_8", taken);
    MEASURE(taken, write_scratch());
    report("fabric_write_posted", taken);
    MEASURE(taken, write_scratch(); fence());
    report("fabric_write_fence", taken);
    MEASURE(taken, write_scratch(); (void)SCRATCH);
    report("fabric_write_read", taken);
    MEASURE(taken, eight_writes());
    report("fabric_write_8", taken);
    MEASURE(taken, (void)*at64(CLINT_TIME));
    report("clint_read", taken);
    MEASURE(taken, (void)*at32(PLIC_THRESHOLD));
    report("plic_read", taken);
    MEASURE(taken, write_byte(UART_SCRATCH));
    report("uart_write_fence", taken);
    MEASURE(taken, (void)*at64((uintptr_t)word));
    report("dram_hit", taken);
    MEASURE(taken, (void)*at64((uintptr_t)uncached(word)));
    report("dram_uncached_read", taken);
    MEASURE(taken, write_word((uintptr_t)word));
    report("dram_write_fence", taken);
    MEASURE(taken, __asm__ volatile("amoadd.d zero, %0, (%1)" ::"r"(1UL), "r"(word) : "memory"));
    report("dram_amo", taken);
}

/* The core must not merge, repeat or reorder stores to a device. */
static void test_stores(void)
{
    for (unsigned int i = 0; i < 8; i++) {
        SCRATCH = i;
    }
    check("last_store", SCRATCH, 7);
    eight_writes();
    for (unsigned int i = 0; i < 8; i++) {
        check("store", SCRATCH_AT(i), i);
    }
}

static void test_atomics(void)
{
    volatile uint64_t *at = at64((uintptr_t)word);
    uint64_t old, failed;

    *at = 5;
    __asm__ volatile("amoadd.d %0, %1, (%2)" : "=r"(old) : "r"(3UL), "r"(at) : "memory");
    check("amo_old", old, 5);
    check("amo_new", *at, 8);
    __asm__ volatile("lr.d %0, (%2); addi %0, %0, 1; sc.d %1, %0, (%2)"
                     : "=&r"(old), "=&r"(failed)
                     : "r"(at)
                     : "memory");
    check("sc_failed", failed, 0);
    check("sc_new", *at, 9);
    __asm__ volatile("lr.d %0, (%2); sd %0, (%2); fence; sc.d %1, zero, (%2)"
                     : "=&r"(old), "=&r"(failed)
                     : "r"(at)
                     : "memory");
    check("uncached_sees", *at64((uintptr_t)uncached(word)), 9);
}

/* CVA6 ignores bus errors: no trap, whatever the answer is. A program must not rely on one. */
static void test_errors(void)
{
    exceptions_taken();
    (void)*at64(FABRIC + 0x700);
    (void)*at64(UNMAPPED);
    (void)*at64(NOTHING);
    *at64(FABRIC + 0x700) = 1;
    *at64(UNMAPPED) = 1;
    fence();
    __asm__ volatile("amoadd.w zero, %0, (%1)" ::"r"(3), "r"(&SCRATCH) : "memory");
    check("bus_error_traps", exceptions_taken(), 0);
    check("id", *fabric(FABRIC_REGS_ID) & UINT32_MAX, 0x54534642);
}

void test_buses(void)
{
    test_stores();
    test_atomics();
    test_errors();
    test_accesses();
}
