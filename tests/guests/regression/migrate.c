/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A VCPU that computes on one hart, migrates to the other, and returns to the first, which has run
 * no other VCPU in between. The scheduler chooses the hart of a wake-up: an idle hart runs the VCPU
 * that its timer wakes; a busy hart leaves that VCPU to the other hart.
 */
#include "csr.h"
#include "platform.h"
#include "plic.h"
#include "print.h"
#include "regression.h"
#include "sbi.h"

#define MS (PLATFORM_TIMEBASE_HZ / 1000U)
#define CLOCK_BASE 0x101000UL
#define CLOCK_IRQ 11U
#define CLOCK_TIME_LOW 0x00U
#define CLOCK_TIME_HIGH 0x04U
#define CLOCK_ALARM_LOW 0x08U
#define CLOCK_ALARM_HIGH 0x0cU
#define CLOCK_IRQ_ENABLED 0x10U
#define CLOCK_CLEAR_INTERRUPT 0x1cU
#define CLOCK_MS 1000000U

#define ROUNDS 50U
#define OTHER_CONTEXT 3U /* S-mode of hart 1 */

static volatile unsigned int woken; /* number of wake-ups of the migrating VCPU */
static volatile unsigned int wrong;

static volatile uint32_t *clock_register(uint32_t offset)
{
    return (volatile uint32_t *)(CLOCK_BASE + offset);
}

/* The alarm is raised by the timer of the hart on which this VCPU runs. */
static void set_alarm(uint64_t ns)
{
    uint64_t when = *clock_register(CLOCK_TIME_LOW);

    when |= (uint64_t)*clock_register(CLOCK_TIME_HIGH) << 32;
    when += ns;
    *clock_register(CLOCK_ALARM_HIGH) = (uint32_t)(when >> 32);
    *clock_register(CLOCK_ALARM_LOW) = (uint32_t)when;
}

static uint64_t load_f31(void)
{
    uint64_t value;

    __asm__ volatile(".option push\n\t.option arch, +d\n\tfmv.x.d %0, f31\n\t.option pop"
                     : "=r"(value));
    return value;
}

static void store_f31(uint64_t value)
{
    __asm__ volatile(
        ".option push\n\t.option arch, +d\n\tfmv.d.x f31, %0\n\t.option pop" ::"r"(value));
}

static void acknowledge(void)
{
    uint32_t source = plic_claim(OTHER_CONTEXT);

    csr_clear_sip(SIE_SOFT);
    if (source == CLOCK_IRQ) {
        *clock_register(CLOCK_CLEAR_INTERRUPT) = 1;
        plic_complete(OTHER_CONTEXT, source);
    }
}

/* Loads another value each time, which must be unchanged at the next wake-up, on either hart. */
static void migrating_vcpu(unsigned long hart, void *argument)
{
    uint64_t value = 0;

    (void)hart;
    (void)argument;
    csr_write_sie(SIE_SOFT | SIE_EXTERNAL);
    csr_set_sstatus(SSTATUS_FS);
    store_f31(value);
    for (;;) {
        csr_wait_for_interrupt(); /* interrupts are off: execution continues here */
        acknowledge();
        wrong = wrong + (load_f31() != value);
        value++;
        store_f31(value);
        woken = woken + 1U;
    }
}

/*
 * Both VCPUs sleep when the alarm is raised: the migrating VCPU wakes on the hart where this VCPU
 * was.
 */
static void call_here(void)
{
    set_alarm(CLOCK_MS);
    sbi_set_timer(csr_read_time() + 2U * MS);
    csr_wait_for_interrupt();
    sbi_set_timer(~0UL);
}

/* This VCPU keeps its hart: the migrating VCPU wakes on the other one. */
static void call_there(void)
{
    unsigned int before = woken;

    sbi_send_ipi((struct sbi_harts){.mask = 1UL << 1});
    while (woken == before) {
    }
    for (uint64_t begun = csr_read_time(); csr_read_time() - begun < MS / 10U;) {
    }
}

void migrate(unsigned long hart, const void *fdt)
{
    (void)fdt;
    plic_open(OTHER_CONTEXT, CLOCK_IRQ);
    *clock_register(CLOCK_IRQ_ENABLED) = 1;
    csr_write_sie(SIE_TIMER);
    start_other_hart(hart, migrating_vcpu);
    for (uint64_t begun = csr_read_time(); csr_read_time() - begun < MS;) {
    }
    for (unsigned int i = 0; i < ROUNDS; i++) {
        call_here();
        call_there();
    }
    print("regression: migrated: %u checks, %u wrong\n", woken, wrong);
}
