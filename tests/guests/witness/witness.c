/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes and repeatedly checks all of its state while another guest attacks (../attacker). The
 * test can recompute its report from the number of rounds:
 *
 *      witness: 120 rounds, sum 0x9a..., 0 wrong
 */
#include <stdint.h>

#include "csr.h"
#include "platform.h"
#include "print.h"
#include "uart.h"

#define WORDS 2048U
#define TURNS 40UL
#define LINE_TICKS (PLATFORM_TIMEBASE_HZ / 200U) /* 5 ms */
#define FACTOR 6364136223846793005UL
#define SUMMAND 1442695040888963407UL
#define SPARE_CSRS 5U

int main(unsigned long hart, const void *fdt);
unsigned long hold(uint64_t seed, unsigned long turns);

static uint64_t memory[WORDS];

/*
 * Checks that all words of the memory hold the value of the previous round, and writes that of this
 * round. Returns the number of mismatches.
 */
static unsigned long check_memory(uint64_t before, uint64_t now)
{
    unsigned long wrong = 0;

    for (uint64_t i = 0; i < WORDS; i++) {
        wrong += ((volatile uint64_t *)memory)[i] != before + i * FACTOR;
        ((volatile uint64_t *)memory)[i] = now + i * FACTOR;
    }
    return wrong;
}

/* sscratch, sepc, scause, stval, scounteren: only this guest writes them. */
static unsigned long check_csrs(uint64_t before, uint64_t now)
{
    uint64_t found[SPARE_CSRS];
    const uint64_t expected[SPARE_CSRS] = {before, before & ~3UL, before & 15U, ~before, 7};
    unsigned long wrong = 0;

    __asm__ volatile("csrrw %0, sscratch, %1" : "=r"(found[0]) : "r"(now));
    __asm__ volatile("csrrw %0, sepc, %1" : "=r"(found[1]) : "r"(now & ~3UL));
    __asm__ volatile("csrrw %0, scause, %1" : "=r"(found[2]) : "r"(now & 15U));
    __asm__ volatile("csrrw %0, stval, %1" : "=r"(found[3]) : "r"(~now));
    __asm__ volatile("csrr %0, scounteren" : "=r"(found[4]));
    for (unsigned int i = 0; i < SPARE_CSRS; i++) {
        wrong += found[i] != expected[i];
    }
    return wrong;
}

/* Checks state that is unchanged since the start. */
static unsigned long check_rest(uint64_t stvec)
{
    uint64_t satp;

    __asm__ volatile("csrr %0, satp" : "=r"(satp));
    return satp != 0 || csr_read_sie() != 0 || csr_read_stvec() != stvec ||
                   (csr_read_sip() & SIE_SOFT) != 0
               ? 1
               : 0;
}

int main(unsigned long hart, const void *fdt)
{
    uint64_t sum = 1, next = csr_read_time(), stvec = csr_read_stvec();
    unsigned long wrong = 0;

    (void)hart;
    (void)fdt;
    uart_init();
    csr_set_sstatus(SSTATUS_FS_INITIAL);
    (void)check_memory(0, sum);
    (void)check_csrs(0, sum);
    for (unsigned long rounds = 1;; rounds++) {
        uint64_t before = sum;

        sum = sum * FACTOR + SUMMAND;
        wrong += hold(sum, TURNS) + check_memory(before, sum) + check_csrs(before, sum) +
                 check_rest(stvec);
        if (csr_read_time() >= next) {
            print("witness: %lu rounds, sum 0x%lx, %lu wrong\n", rounds, sum, wrong);
            next = csr_read_time() + LINE_TICKS;
        }
    }
}
