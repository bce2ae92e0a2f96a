/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of SBI v0.1, which pass harts by a pointer to a mask in the caller's virtual memory, and
 * console input by SBI calls.
 */
#include <stdbool.h>

#include "csr.h"
#include "platform.h"
#include "print.h"
#include "regression.h"
#include "sbi.h"
#include "trap.h"

#define MS (PLATFORM_TIMEBASE_HZ / 1000U)
#define SET_TIMER 0UL
#define GETCHAR 2UL
#define CLEAR_IPI 3UL
#define SEND_IPI 4UL
#define REMOTE_FENCE_I 5UL
#define REMOTE_SFENCE_VMA 6UL
#define REMOTE_SFENCE_VMA_ASID 7UL
#define SHUTDOWN 8UL
#define DEBUG_CONSOLE_READ 1UL
#define KEPT 0x1234567UL /* in a1, which these calls preserve */

/* Sv39 with pages of 1 GiB: devices and RAM at their physical addresses, and RAM again at ALIAS. */
#define ALIAS 0xc0000000UL
#define UNMAPPED 0x140000000UL
#define PAGE_FLAGS 0xcfUL /* valid, read, write, execute, accessed, dirty */

static unsigned long masks[2] __attribute__((aligned(16)));
static volatile unsigned int interrupts_here, interrupts_there, timers;
static volatile uint64_t timer_at;
static volatile uint64_t trap_cause, trap_value, trap_pc;

static void soft(void)
{
    csr_clear_sip(SIE_SOFT);
    interrupts_here++;
}

static void timer(void)
{
    timers++;
    timer_at = csr_read_time();
    csr_clear_sie(SIE_TIMER);
}

static void other_hart(unsigned long hart, void *argument)
{
    (void)hart;
    (void)argument;
    csr_write_sie(SIE_SOFT);
    for (;;) {
        csr_wait_for_interrupt();
        if ((csr_read_sip() & SIE_SOFT) != 0) {
            csr_clear_sip(SIE_SOFT);
            interrupts_there++;
        }
    }
}

static bool note_trap(struct trap_frame *frame, uint64_t cause, uint64_t stval)
{
    trap_cause = cause;
    trap_value = stval;
    trap_pc = frame->sepc;
    frame->sepc += 4;
    return true;
}

static void spin(uint64_t ticks)
{
    uint64_t start = csr_read_time();

    while (csr_read_time() - start < ticks) {
    }
}

/* Makes a call with its mask at `pointer` and prints its effect on both harts. */
static void call(const char *name, unsigned long number, unsigned long pointer)
{
    struct sbi_ret ret;

    trap_cause = 0;
    interrupts_here = 0;
    interrupts_there = 0;
    ret = sbi_call(number, 0, pointer, KEPT, 0);
    spin(150 * MS); /* the other VCPU may have to wait for its slice */
    print("regression: %s: ", name);
    if (trap_cause != 0) {
        print("exception %lu, stval 0x%lx, at the call: %s", (unsigned long)trap_cause,
              (unsigned long)trap_value, *(volatile uint32_t *)trap_pc == 0x73 ? "yes" : "no");
    } else {
        print("returned %ld, a1 %s", ret.error, ret.value == (long)KEPT ? "kept" : "changed");
    }
    print("; interrupts here %u, there %u\n", interrupts_here, interrupts_there);
}

static void translate(void)
{
    static uint64_t root[512] __attribute__((aligned(4096)));

    root[0] = PAGE_FLAGS;
    root[2] = 0x80000000UL >> 2 | PAGE_FLAGS;
    root[ALIAS >> 30] = 0x80000000UL >> 2 | PAGE_FLAGS;
    __asm__ volatile(
        "sfence.vma\n\tcsrw satp, %0\n\tsfence.vma" ::"r"(8UL << 60 | (uintptr_t)root >> 12)
        : "memory");
}

static void masks_of_every_kind(unsigned long here, unsigned long there)
{
    unsigned long at = (uintptr_t)masks;

    masks[0] = here;
    call("ipi to itself", SEND_IPI, at);
    masks[0] = there;
    call("ipi to the other", SEND_IPI, at);
    masks[0] = here | there;
    call("ipi to both", SEND_IPI, at);
    call("ipi to all", SEND_IPI, 0);
    masks[0] = 0;
    call("ipi to no hart", SEND_IPI, at);
    masks[0] = there << 8;
    masks[1] = 0;
    call("misaligned mask", SEND_IPI, at + 1);
    call("mask where nothing is", SEND_IPI, PLATFORM_HOLE);
    masks[0] = here | there;
    call("fence.i", REMOTE_FENCE_I, at);
    call("sfence.vma", REMOTE_SFENCE_VMA, at);
    call("sfence.vma with an asid", REMOTE_SFENCE_VMA_ASID, at);
    call("fence.i of all", REMOTE_FENCE_I, 0);
    call("fence.i where nothing is", REMOTE_FENCE_I, PLATFORM_HOLE);
    call("sfence.vma where nothing is", REMOTE_SFENCE_VMA, PLATFORM_HOLE);
}

static void masks_by_translation(unsigned long there)
{
    unsigned long at = (uintptr_t)masks;

    translate();
    masks[0] = there;
    call("translated mask", SEND_IPI, at - 0x80000000UL + ALIAS);
    call("unmapped mask", SEND_IPI, UNMAPPED);
    call("unmapped mask of a fence", REMOTE_SFENCE_VMA_ASID, UNMAPPED);
}

static void own_interrupts(unsigned long here)
{
    struct sbi_ret ret;
    unsigned int before, after;
    uint64_t deadline;

    csr_clear_sstatus(SSTATUS_SIE);
    masks[0] = here;
    (void)sbi_call(SEND_IPI, 0, (uintptr_t)masks, KEPT, 0);
    before = (csr_read_sip() & SIE_SOFT) != 0;
    ret = sbi_call(CLEAR_IPI, 0, 0, KEPT, 0);
    after = (csr_read_sip() & SIE_SOFT) != 0;
    print("regression: clear_ipi: pending %u before, %u after, returned %ld, a1 %s\n", before,
          after, ret.error, ret.value == (long)KEPT ? "kept" : "changed");
    csr_set_sie(SIE_TIMER);
    csr_set_sstatus(SSTATUS_SIE);
    deadline = csr_read_time() + 5 * MS;
    ret = sbi_call(SET_TIMER, 0, deadline, KEPT, 0);
    /* an emulator on a busy host may be late */
    while (timers == 0 && csr_read_time() < deadline + 2000 * MS) {
    }
    print("regression: set_timer: %u interrupts, in time: %s, returned %ld, a1 %s\n", timers,
          timer_at >= deadline ? "yes" : "no", ret.error,
          ret.value == (long)KEPT ? "kept" : "changed");
}

void typed(unsigned long hart, const void *fdt)
{
    struct sbi_ret ret;
    char c = 0;

    (void)hart;
    (void)fdt;
    print("regression: getchar of nothing: %ld\n", sbi_call(GETCHAR, 0, 0, 0, 0).error);
    ret = sbi_call(SBI_EXT_DBCN, DEBUG_CONSOLE_READ, 0, (uintptr_t)&c, 0);
    print("regression: read of nothing: error %ld, %ld characters\n", ret.error, ret.value);
    do {
        ret = sbi_call(GETCHAR, 0, 0, KEPT, 0);
    } while (ret.error == -1);
    print("regression: getchar: %ld, a1 %s\n", ret.error,
          ret.value == (long)KEPT ? "kept" : "changed");
    do {
        ret = sbi_call(SBI_EXT_DBCN, DEBUG_CONSOLE_READ, 1, (uintptr_t)&c, 0);
    } while (ret.error == 0 && ret.value == 0);
    print("regression: read: error %ld, %ld characters, %u\n", ret.error, ret.value,
          (unsigned int)c);
}

void legacy(unsigned long hart, const void *fdt)
{
    unsigned long here = 1UL << hart, there = 2UL >> hart;

    (void)fdt;
    trap_set_interrupt(IRQ_SOFT, soft);
    trap_set_interrupt(IRQ_TIMER, timer);
    trap_set_exception(note_trap);
    start_other_hart(hart, other_hart);
    spin(20 * MS);
    csr_write_sie(SIE_SOFT);
    csr_set_sstatus(SSTATUS_SIE);
    for (unsigned long number = 0; number < 10; number++) {
        print("regression: legacy call %lu: %s\n", number,
              sbi_probe(number) ? "there" : "not there");
    }
    masks_of_every_kind(here, there);
    masks_by_translation(there);
    own_interrupts(here);
    print("regression: shutting down\n");
    (void)sbi_call(SHUTDOWN, 0, 0, 0, 0);
    print("regression: still here\n");
}
