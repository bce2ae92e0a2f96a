/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cycles of what privileged code does: CSR accesses, a trap and the return from it, a miss of the
 * TLB. For the model of cycles (docs/benchmarks.md, "What a chip costs"). Each is done eight times
 * in a row.
 */
#include "soc.h"

#define MSTATUS_MPRV (1UL << 17)
#define MSTATUS_MPP (3UL << 11)
#define MPP_S (1UL << 11)
#define SATP_SV39 (8UL << 60)
#define PAGE 4096UL
#define ENTRIES 512U
#define PTE_TABLE 1UL   /* V */
#define PTE_DATA 0xc7UL /* D, A, W, R, V */
#define PTE_OF(address) ((uintptr_t)(address) >> 12 << 10)
/* Where the pages are in the address space of the test: the fifth GiB, which is not DRAM's own
 * address. */
#define MAPPED (4UL << 30)
#define ROOT_ENTRY 4U
#define PAGES 8U
#define PMP_ALL 0x1fUL /* NAPOT, X, W, R */

#define EIGHT(text) text ";" text ";" text ";" text ";" text ";" text ";" text ";" text

/* Owner of all: this file. */
static uint64_t root[ENTRIES] __attribute__((aligned(PAGE)));
static uint64_t middle[ENTRIES] __attribute__((aligned(PAGE)));
static uint64_t leaves[ENTRIES] __attribute__((aligned(PAGE)));
static uint64_t data[PAGE / sizeof(uint64_t)] __attribute__((aligned(PAGE)));

static void test_csr(void)
{
    uint64_t value, status;

    __asm__ volatile("csrr %0, mstatus" : "=r"(status));
    MEASURE(value, __asm__ volatile(EIGHT("csrr t0, mscratch"):: : "t0", "memory"));
    report("csr_read_8", value);
    MEASURE(value, __asm__ volatile(EIGHT("csrw mscratch, zero"):: : "memory"));
    report("csr_write_8", value);
    MEASURE(value, __asm__ volatile(EIGHT("csrw mstatus, %0")::"r"(status) : "memory"));
    report("csr_write_status_8", value);
    MEASURE(value,
            __asm__ volatile(EIGHT("csrw sscratch, zero; csrr t0, scause"):: : "t0", "memory"));
    report("csr_write_read_8", value);
    MEASURE(value, __asm__ volatile(EIGHT("sfence.vma"):: : "memory"));
    report("sfence_8", value);
}

/* A trap whose handler skips the ECALL, and MRET. */
static void test_trap(void)
{
    uint64_t value;
    uintptr_t old;

    __asm__ volatile("la t0, 1f; csrrw %0, mtvec, t0; j 2f; .balign 4;"
                     "1: csrr t0, mepc; addi t0, t0, 4; csrw mepc, t0; mret; 2:"
                     : "=r"(old)::"t0", "memory");
    MEASURE(value, __asm__ volatile(EIGHT("ecall"):: : "t0", "memory"));
    __asm__ volatile("csrw mtvec, %0" ::"r"(old) : "memory");
    report("trap_and_return_8", value);
}

/* The whole address space is S-mode's: without an entry of the PMP nothing is. */
static void open_pmp(void)
{
    __asm__ volatile("csrw pmpaddr0, %0; csrw pmpcfg0, %1" ::"r"(UINT64_MAX), "r"(PMP_ALL)
                     : "memory");
}

static void map_pages(void)
{
    root[ROOT_ENTRY] = PTE_OF(middle) | PTE_TABLE;
    middle[0] = PTE_OF(leaves) | PTE_TABLE;
    for (unsigned int page = 0; page < PAGES; page++) {
        leaves[page] = PTE_OF(data) | PTE_DATA;
    }
    __asm__ volatile("fence; csrw satp, %0; sfence.vma" ::"r"(SATP_SV39 | (uintptr_t)root >> 12)
                     : "memory");
}

/* Loads from eight pages as in S-mode, one after the other has come. They are the same page of
 * DRAM. */
static uint64_t load_pages(void)
{
    uint64_t begin, end, status, as_s, word = MAPPED;

    __asm__ volatile("csrr %0, mstatus" : "=r"(status));
    as_s = (status & ~MSTATUS_MPP) | MPP_S | MSTATUS_MPRV;
    __asm__ volatile(
        "csrw mstatus, %4;"
        "csrr %0, mcycle;" EIGHT("ld t0, 0(%2); add %2, %2, %3; add %2, %2, t0") ";"
                                                                                 "csrr %1, mcycle;"
                                                                                 "csrw mstatus, %5"
        : "=&r"(begin), "=&r"(end), "+&r"(word)
        : "r"(PAGE), "r"(as_s), "r"(status)
        : "t0", "memory");
    return end - begin;
}

static void test_tlb(void)
{
    uint64_t miss = 0;

    open_pmp();
    map_pages();
    exceptions_taken();
    for (unsigned int turn = 0; turn < 3; turn++) {
        __asm__ volatile("sfence.vma" ::: "memory");
        miss = load_pages();
    }
    report("tlb_miss_8", miss);
    report("tlb_hit_8", load_pages());
    check("page_faults", exceptions_taken(), 0);
    __asm__ volatile("csrw satp, zero; sfence.vma" ::: "memory");
}

void test_privileged(void)
{
    interrupts_off();
    test_csr();
    test_trap();
    test_tlb();
    interrupts_on();
}
