/* SPDX-License-Identifier: Apache-2.0 */
/* What a kernel for several harts asks of the SBI: natively of the firmware, in a VM of the
 * hypervisor. */
#include <stdbool.h>

#include "csr.h"
#include "platform.h"
#include "print.h"
#include "regression.h"
#include "sbi.h"
#include "trap.h"

#define STOPPED 1L
#define ROUNDS 40U
#define MISSING 9UL /* a hart */
#define FENCE_UNKNOWN 9UL
#define NO_MEMORY (1UL << 50)

/* Pages of 2 MiB and 1 GiB, Sv39. Both words are free RAM of a VM of 4 MiB. */
#define ENTRIES 512U
#define LEAF 0xcfUL
#define POINTER 0x01UL
#define WINDOW 0x140000000UL
#define WORD 0x180000UL
#define FIRST 0x80000000UL
#define SECOND 0x80200000UL

static uint64_t root[ENTRIES] __attribute__((aligned(4096))),
    middle[ENTRIES] __attribute__((aligned(4096)));
static volatile unsigned long starts, interrupts, reads, seen, fences;
static volatile bool over;

static void map(uint64_t page)
{
    *(volatile uint64_t *)middle = page >> 2 | LEAF;
    __asm__ volatile("fence" ::: "memory");
}

static void translate(void)
{
    __asm__ volatile("csrw satp, %0\n\tsfence.vma" ::"r"(8UL << 60 | (uintptr_t)root >> 12)
                     : "memory");
}

static void soft(void)
{
    csr_clear_sip(SIE_SOFT);
    interrupts++;
}

/* --- the other hart --- */

static void nothing(unsigned long hart, void *argument)
{
    (void)hart;
    (void)argument;
    starts++;
}

static void take_interrupts(unsigned long hart, void *argument)
{
    (void)hart;
    (void)argument;
    starts++;
    csr_write_sie(SIE_SOFT);
    csr_set_sstatus(SSTATUS_SIE);
    while (!over) {
    }
}

static void keep_reading(unsigned long hart, void *argument)
{
    (void)hart;
    (void)argument;
    translate();
    starts++;
    while (!over) {
        seen = *(volatile uint64_t *)(WINDOW + WORD);
        __asm__ volatile("fence" ::: "memory");
        reads++;
    }
}

static void keep_fencing(unsigned long hart, void *argument)
{
    (void)argument;
    starts++;
    while (!over) {
        fences += sbi_remote_fence_i((struct sbi_harts){.mask = 1UL << (1U - hart)}).error == 0;
    }
}

/* --- this hart --- */

static void begin(void (*function)(unsigned long hart, void *argument))
{
    unsigned long before = starts;

    over = false;
    start_other_hart(0, function);
    while (starts == before) {
    }
}

static void end(void)
{
    over = true;
    while (sbi_hart_status(1).value != STOPPED) {
    }
}

static void states(void)
{
    long before = sbi_hart_status(1).value, during, again;

    begin(take_interrupts);
    during = sbi_hart_status(1).value;
    again = sbi_hart_start(1, SECOND, 0).error;
    end();
    begin(nothing);
    end();
    print("regression: hart 1: %ld, started %ld (again: %ld), starts %lu\n", before, during, again,
          starts);
    print("regression: hart %lu: start %ld, status %ld\n", MISSING,
          sbi_hart_start(MISSING, SECOND, 0).error, sbi_hart_status(MISSING).error);
}

static void send(void)
{
    begin(take_interrupts);
    for (unsigned long n = 0; n < ROUNDS; n++) {
        while (interrupts != n) {
        }
        sbi_send_ipi((struct sbi_harts){.mask = 1UL << 1});
    }
    while (interrupts != ROUNDS) {
    }
    end();
    print("regression: %lu interrupts, to hart %lu: %ld\n", interrupts, MISSING,
          sbi_send_ipi((struct sbi_harts){.mask = 1UL << MISSING}).error);
}

/* Each fence moves the window to the other page: the other hart must see it, and never the first
 * again. */
static void change_pages(void)
{
    unsigned long stale = 0, failed = 0;

    *(volatile uint64_t *)(FIRST + WORD) = 0;
    *(volatile uint64_t *)(SECOND + WORD) = 1;
    root[2] = FIRST >> 2 | LEAF;
    root[0] = LEAF;
    root[WINDOW >> 30] = (uintptr_t)middle >> 2 | POINTER;
    map(FIRST);
    begin(keep_reading);
    for (unsigned long n = 0; n < ROUNDS; n++) {
        unsigned long before;

        map(n % 2U == 0 ? SECOND : FIRST);
        failed +=
            sbi_remote_sfence_vma((struct sbi_harts){.mask = 1UL << 1}, WINDOW, 1UL << 21).error !=
            0;
        before = reads;
        while (reads - before < 2U) {
        }
        stale += seen != 1U - n % 2U;
    }
    end();
    print("regression: %u remote fences, %lu failed, %lu stale, unknown one: %ld\n", ROUNDS, failed,
          stale, sbi_call(SBI_EXT_RFENCE, FENCE_UNKNOWN, 1, 0, 0).error);
}

/* Two harts that fence each other at the same time do not wait for each other for ever. */
static void cross_fences(void)
{
    unsigned long own = 0;

    begin(keep_fencing);
    while (own < ROUNDS || fences < ROUNDS) {
        own += sbi_remote_sfence_vma((struct sbi_harts){.base = ~0UL}, 0, 0).error == 0;
    }
    end();
    print("regression: fences in both directions: done\n");
}

static void console(void)
{
    static const char text[] = "regression: printed by the firmware\n";

    if (sbi_probe(SBI_EXT_DBCN)) {
        for (size_t done = 0; done < sizeof(text) - 1U;) {
            done += (size_t)sbi_console_write(text + done, sizeof(text) - 1U - done).value;
        }
        print("regression: from no memory: %ld\n",
              sbi_call(SBI_EXT_DBCN, 0, 8, NO_MEMORY, 0).error);
    }
}

void harts(unsigned long hart, const void *fdt)
{
    (void)hart;
    (void)fdt;
    trap_set_interrupt(IRQ_SOFT, soft);
    states();
    send();
    change_pages();
    cross_fences();
    console();
    print("regression: unknown extension: %ld\n", sbi_call(0x0a123456UL, 0, 0, 0, 0).error);
    print("regression: harts done\n");
    sbi_system_reset(SBI_RESET_WARM, SBI_RESET_NO_REASON);
}
