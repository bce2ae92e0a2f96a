/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random accesses to the registers of the UART, the PLIC and the goldfish RTC, with a log of each
 * access and of what it reads, for a comparison of QEMU's devices with those of a VM
 * (tests/e2e/test_registers.py). `seed=` and `count=` (accesses) are boot arguments.
 *
 * The UART is in loopback, so its transmitter's bytes come back, and the log is printed between two
 * bursts of accesses. What is known to differ is not accessed, or not logged
 * (docs/virtual-platform.md, "Differences from QEMU's devices").
 */
#include <stdbool.h>
#include <stdint.h>

#include "csr.h"
#include "fdt.h"
#include "platform.h"
#include "plic.h"
#include "print.h"
#include "random.h"
#include "trap.h"
#include "uart.h"

#define BURST 200U /* accesses, and others that they need, between two printed logs */
#define LOG_SIZE (8U * BURST)

#define LCR_DLAB 0x80U
#define MCR_LOOP 0x10U
#define IER_MODEM 0x08U
#define IIR_NONE 0x01U
#define IIR_THR 0x02U
#define IIR_CAUSE 0x0fU
#define IIR_TIMEOUT 0x08U /* in IIR, of data that were not read for a while */
#define FCR_TRIGGER 0xc0U

#define SOURCES 32U
#define PENDING 0x1000U

#define RTC_BASE 0x101000UL
#define RTC_IRQ 11U
enum rtc_register {
    RTC_TIME_LOW = 0x00,
    RTC_TIME_HIGH = 0x04,
    RTC_ALARM_LOW = 0x08,
    RTC_ALARM_HIGH = 0x0c,
    RTC_IRQ_ENABLED = 0x10,
    RTC_CLEAR_ALARM = 0x14,
    RTC_ALARM_STATUS = 0x18,
    RTC_CLEAR_INTERRUPT = 0x1c,
};
/* A run takes less than 3 s of the RTC's 4.3 s between two values of the upper half. */
#define RTC_LOW_MOST 0x3fffffffU
#define RTC_HIGH_FIRST 100U

int main(unsigned long hart, const void *fdt);

static struct entry {
    char kind; /* r: read, w: written */
    uint32_t address, value;
} entries[LOG_SIZE];
static unsigned int nentries;
static struct random numbers;
static uint32_t context;
static uint32_t claimed; /* bit n: source n is claimed and not completed */
static uint8_t ier;
static volatile bool interrupted;
/* Of the RTC: */
static uint32_t time_high, alarm_high;
static bool alarm_pending, alarm_enabled;

static void note(char kind, unsigned long address, uint32_t value)
{
    if (nentries < LOG_SIZE) {
        entries[nentries++] = (struct entry){kind, (uint32_t)address, value};
    }
}

static uint32_t any(uint64_t below)
{
    return (uint32_t)random_below(&numbers, below);
}

/* --- UART --- */

static void put_uart(enum uart_register reg, uint8_t value)
{
    note('w', PLATFORM_UART_BASE + reg, value);
    uart_write(reg, value);
}

static uint8_t get_uart(enum uart_register reg)
{
    uint8_t value = uart_read(reg);

    note('r', PLATFORM_UART_BASE + reg, value);
    return value;
}

static void write_thr_or_divisor(void)
{
    put_uart(UART_THR, (uint8_t)any(256));
}

/* Fills the FIFO, and more. */
static void write_many(void)
{
    put_uart(UART_LCR, 3);
    for (uint32_t n = any(20); n > 0; n--) {
        put_uart(UART_THR, (uint8_t)any(256));
    }
}

static void write_ier(void)
{
    uint8_t value = (uint8_t)any(256);

    put_uart(UART_IER, value);
    if ((uart_read(UART_LCR) & LCR_DLAB) == 0) {
        ier = value & 0x0fU;
    }
}

/* Without a trigger level: the VM's UART interrupts for each byte. */
static void write_fcr(void)
{
    put_uart(UART_FCR, (uint8_t)(any(256) & ~FCR_TRIGGER));
}

static void write_lcr(void)
{
    put_uart(UART_LCR, (uint8_t)any(256));
}

static void write_mcr(void)
{
    put_uart(UART_MCR, (uint8_t)(any(256) | MCR_LOOP));
}

static void write_other(void)
{
    static const enum uart_register registers[] = {UART_LSR, UART_MSR, UART_SCR};

    put_uart(registers[any(3)], (uint8_t)any(256));
}

/* What the receiver's buffer holds without data is left open by the data sheet. */
static void read_rbr(void)
{
    uint8_t lsr = get_uart(UART_LSR), value;

    if ((lsr & UART_LSR_DATA) != 0) {
        (void)get_uart(UART_RBR);
        return;
    }
    value = uart_read(UART_RBR);
    if ((uart_read(UART_LCR) & LCR_DLAB) != 0) {
        note('r', PLATFORM_UART_BASE, value);
    }
}

/* The VM's UART has no timeout. */
static void read_iir(void)
{
    uint8_t value = uart_read(UART_IIR);

    note('r', PLATFORM_UART_BASE + UART_IIR, value & (uint8_t)~IIR_TIMEOUT);
}

static void read_uart(void)
{
    static const enum uart_register registers[] = {UART_IER, UART_LCR, UART_MCR,
                                                   UART_LSR, UART_MSR, UART_SCR};

    (void)get_uart(registers[any(6)]);
}

/* --- PLIC --- */

static void put_word(unsigned long address, uint32_t value)
{
    note('w', address, value);
    *(volatile uint32_t *)address = value;
}

static uint32_t get_word(unsigned long address, uint32_t mask)
{
    uint32_t value = *(volatile uint32_t *)address & mask;

    note('r', address, value);
    return value;
}

static unsigned long at(volatile uint32_t *reg)
{
    return (unsigned long)(uintptr_t)reg;
}

/* Mostly one of the two sources that the guest can make high. */
static uint32_t any_source(void)
{
    static const uint32_t sources[] = {PLATFORM_UART_IRQ, PLATFORM_UART_IRQ, RTC_IRQ, RTC_IRQ};
    uint32_t n = any(5);

    return n < 4U ? sources[n] : 1U + any(SOURCES - 1U);
}

static void write_priority(void)
{
    put_word(at(plic_priority(any_source())), any(1U << 31));
}

static void read_priority(void)
{
    (void)get_word(at(plic_priority(any_source())), ~0U);
}

/* A source that is claimed stays enabled: QEMU completes it otherwise, too. */
static void write_enable(void)
{
    put_word(at(plic_enables(context, 0)),
             ((any(2) != 0 ? ~0U : any(1U << 31) << 1) | claimed) & ~1U);
}

static void read_enable(void)
{
    (void)get_word(at(plic_enables(context, 0)), ~0U);
}

static void write_threshold(void)
{
    put_word(at(plic_threshold(context)), any(4) != 0 ? any(3) : any(1U << 31));
}

static void read_threshold(void)
{
    (void)get_word(at(plic_threshold(context)), ~0U);
}

/* Withdraws the request of a source whose line is low. The VM's PLIC has done so, QEMU's keeps it
 * until it is claimed. */
static void withdraw(uint32_t source)
{
    volatile uint32_t *enables = plic_enables(context, 0), *priority = plic_priority(source);
    volatile uint32_t *threshold = plic_threshold(context);
    uint32_t enables_before = *enables, priority_before = *priority, threshold_before = *threshold;

    *enables = 1U << source;
    *priority = 1;
    *threshold = 0;
    if (plic_claim(context) == source) {
        plic_complete(context, source);
    }
    *enables = enables_before;
    *priority = priority_before;
    *threshold = threshold_before;
}

/* Before an access that shows requests. Reading IIR acknowledges that of the transmitter. */
static void withdraw_all(void)
{
    uint32_t cause = uart_read(UART_IIR) & IIR_CAUSE;

    if ((cause == IIR_NONE || cause == IIR_THR) && (claimed >> PLATFORM_UART_IRQ & 1U) == 0) {
        withdraw(PLATFORM_UART_IRQ);
    }
    if (!(alarm_pending && alarm_enabled) && (claimed >> RTC_IRQ & 1U) == 0) {
        withdraw(RTC_IRQ);
    }
}

/* Those of claimed sources are not compared: QEMU's gateway passes an interrupt before the
 * completion. */
static void read_pending(void)
{
    withdraw_all();
    (void)get_word(PLATFORM_PLIC_BASE + PENDING, ~claimed);
}

static void take_interrupt(void)
{
    interrupted = true;
    csr_clear_sie(SIE_EXTERNAL);
}

/* Whether the PLIC interrupts the hart. The store of the threshold makes QEMU look for sources that
 * were enabled while they were pending. */
static void read_output(void)
{
    volatile uint32_t *threshold = plic_threshold(context);

    withdraw_all();
    *threshold = *threshold;
    interrupted = false;
    csr_set_sie(SIE_EXTERNAL);
    csr_set_sstatus(SSTATUS_SIE);
    csr_clear_sstatus(SSTATUS_SIE);
    csr_clear_sie(SIE_EXTERNAL);
    note('r', 0, interrupted);
}

static void claim(void)
{
    withdraw_all();
    claimed |= 1U << get_word(at(plic_claim_register(context)), ~0U);
    claimed &= ~1U;
}

/* QEMU's PLIC does not look at the line of a source that is completed: the devices raise theirs
 * again. */
static void raise_again(void)
{
    volatile uint32_t *enabled = (volatile uint32_t *)(RTC_BASE + RTC_IRQ_ENABLED);
    uint8_t lcr = uart_read(UART_LCR);

    uart_write(UART_LCR, 0);
    uart_write(UART_IER, ier ^ IER_MODEM);
    uart_write(UART_IER, ier);
    uart_write(UART_LCR, lcr);
    *enabled = *enabled;
}

static void complete(void)
{
    uint32_t source = any(8) != 0 ? any_source() : any(SOURCES);

    put_word(at(plic_claim_register(context)), source);
    claimed &= ~(1U << source);
    raise_again();
}

/* --- RTC --- */

static void set_time(void)
{
    time_high = RTC_HIGH_FIRST + any(3);
    put_word(RTC_BASE + RTC_TIME_HIGH, time_high);
    put_word(RTC_BASE + RTC_TIME_LOW, any(RTC_LOW_MOST));
}

static void read_time(void)
{
    (void)*(volatile uint32_t *)(RTC_BASE + RTC_TIME_LOW);
    (void)get_word(RTC_BASE + RTC_TIME_HIGH, ~0U);
}

/* In the past, or more than a second ahead. */
static void write_alarm(void)
{
    bool past = any(2) != 0;

    if (any(2) != 0) {
        alarm_high = RTC_HIGH_FIRST - 1U + any(5);
        put_word(RTC_BASE + RTC_ALARM_HIGH, alarm_high);
    }
    put_word(RTC_BASE + RTC_ALARM_LOW, past ? 0 : ~0U - any(1000));
    alarm_pending = alarm_pending || alarm_high < time_high || (alarm_high == time_high && past);
}

static void write_rtc(void)
{
    static const enum rtc_register registers[] = {RTC_IRQ_ENABLED, RTC_CLEAR_ALARM,
                                                  RTC_CLEAR_INTERRUPT, RTC_ALARM_STATUS};

    enum rtc_register reg = registers[any(4)];
    uint32_t value = any(1U << 31);

    put_word(RTC_BASE + reg, value);
    if (reg == RTC_IRQ_ENABLED) {
        alarm_enabled = (value & 1U) != 0;
    } else if (reg == RTC_CLEAR_INTERRUPT) {
        alarm_pending = false;
    }
}

static void read_rtc(void)
{
    static const enum rtc_register registers[] = {RTC_ALARM_LOW,   RTC_ALARM_HIGH,
                                                  RTC_IRQ_ENABLED, RTC_ALARM_STATUS,
                                                  RTC_CLEAR_ALARM, RTC_CLEAR_INTERRUPT};

    (void)get_word(RTC_BASE + registers[any(6)], ~0U);
}

/* --- bursts --- */

static void (*const actions[])(void) = {
    write_thr_or_divisor,
    write_thr_or_divisor,
    write_many,
    write_ier,
    write_ier,
    write_fcr,
    write_lcr,
    write_mcr,
    write_other,
    read_rbr,
    read_rbr,
    read_iir,
    read_iir,
    read_uart,
    read_uart,
    read_uart, /* UART */
    write_priority,
    read_priority,
    write_enable,
    read_enable,
    write_threshold,
    read_threshold,
    read_pending,
    read_pending,
    read_output,
    read_output,
    claim,
    claim,
    complete,
    complete, /* PLIC */
    set_time,
    read_time,
    write_alarm,
    write_rtc,
    write_rtc,
    read_rtc,
    read_rtc, /* RTC */
};

/* Natively the firmware has written to the divisor and to the PLIC. */
static void reset(void)
{
    uart_write(UART_LCR, LCR_DLAB);
    uart_write(UART_THR, 1);
    uart_write(UART_IER, 0);
    uart_write(UART_LCR, 3);
    for (uint32_t source = 1; source < SOURCES; source++) {
        *plic_priority(source) = 0;
    }
    *plic_enables(context, 0) = 0;
    *plic_threshold(context) = 0;
}

static void begin_burst(void)
{
    nentries = 0;
    ier = 0;
    uart_wait_empty();
    put_uart(UART_IER, 0);
    put_uart(UART_MCR, MCR_LOOP);
    put_uart(UART_FCR, 0x07);
    set_time();
}

/* Prints the log by the UART, whose registers are set for that. */
static void end_burst(unsigned int burst)
{
    uart_write(UART_LCR, 3);
    uart_init();
    for (unsigned int i = 0; i < nentries; i++) {
        print("%u.%u %c %x %x\n", burst, i, entries[i].kind, entries[i].address, entries[i].value);
    }
}

int main(unsigned long hart, const void *fdt)
{
    unsigned long count = fdt_bootarg_number(fdt, "count", 2000),
                  bursts = (count + BURST - 1U) / BURST;

    context = plic_context(hart);
    numbers = random_from(fdt_bootarg_number(fdt, "seed", 1));
    uart_init();
    reset();
    trap_set_interrupt(IRQ_EXTERNAL, take_interrupt);
    print("registers: begin\n");
    for (unsigned int burst = 0; burst < bursts; burst++) {
        begin_burst();
        for (unsigned int i = 0; i < BURST; i++) {
            actions[any(sizeof(actions) / sizeof(actions[0]))]();
        }
        end_burst(burst);
    }
    print("registers: end\n");
    return 0;
}
