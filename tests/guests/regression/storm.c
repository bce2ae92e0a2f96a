/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A passed-through clock (goldfish RTC) whose alarm is raised again as soon as it is acknowledged,
 * or whose interrupt is never completed.
 */
#include "csr.h"
#include "platform.h"
#include "plic.h"
#include "print.h"
#include "regression.h"
#include "sbi.h"
#include "trap.h"

#define MS (PLATFORM_TIMEBASE_HZ / 1000U)
#define CLOCK_BASE 0x101000UL
#define CLOCK_IRQ 11U
#define CLOCK_ALARM_LOW 0x08U
#define CLOCK_ALARM_HIGH 0x0cU
#define CLOCK_IRQ_ENABLED 0x10U
#define CLOCK_CLEAR_INTERRUPT 0x1cU

#define BEFORE (50U * MS) /* the storm: 50 to 100 ms after the machine was reset */
#define AFTER (100U * MS)

static volatile uint64_t raised, taken;

static void clock_write(uint32_t offset, uint32_t value)
{
    *(volatile uint32_t *)(CLOCK_BASE + offset) = value;
}

/* Sets an alarm in the first second of 1970, which raises the line immediately. */
static void raise(void)
{
    raised = raised + 1U;
    clock_write(CLOCK_ALARM_HIGH, 0);
    clock_write(CLOCK_ALARM_LOW, 0);
}

/* The line goes low and high again before the completion: then the PLIC has the next request. */
static void alarm_again(void)
{
    uint32_t source = plic_claim(plic_context(0));

    clock_write(CLOCK_CLEAR_INTERRUPT, 1);
    taken = taken + 1U;
    if (csr_read_time() < AFTER) {
        raise();
    }
    plic_complete(plic_context(0), source);
}

static void wait_until(uint64_t time)
{
    while (csr_read_time() < time) {
    }
}

static void enable(unsigned long hart)
{
    plic_open(plic_context(hart), CLOCK_IRQ);
    clock_write(CLOCK_CLEAR_INTERRUPT, 1);
    clock_write(CLOCK_IRQ_ENABLED, 1);
}

void owe(unsigned long hart, const void *fdt)
{
    uint32_t source;

    (void)fdt;
    enable(hart);
    raise();
    do {
        source = plic_claim(plic_context(hart));
    } while (source == 0);
    print("regression: owe: source %u was claimed\n", source);
    clock_write(CLOCK_CLEAR_INTERRUPT, 1);
    (void)sbi_system_reset(SBI_RESET_COLD, 0);
}

void storm(unsigned long hart, const void *fdt)
{
    (void)fdt;
    trap_set_interrupt(IRQ_EXTERNAL, alarm_again);
    enable(hart);
    csr_write_sie(SIE_EXTERNAL);
    wait_until(BEFORE);
    csr_set_sstatus(SSTATUS_SIE);
    raise();
    wait_until(AFTER + 10U * MS);
    print("regression: storm: %lu raised, %lu taken in %lu ms\n", raised, taken,
          (AFTER - BEFORE) / MS);
}
