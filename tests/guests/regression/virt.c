/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The platform as seen by a guest that boots on QEMU's virt under OpenSBI. Most roles must print
 * the same natively and in a VM, which tests/e2e/test_virt.py compares.
 */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "csr.h"
#include "fdt.h"
#include "platform.h"
#include "plic.h"
#include "print.h"
#include "regression.h"
#include "sbi.h"
#include "trap.h"
#include "uart.h"

#define MS (PLATFORM_TIMEBASE_HZ / 1000U)
#define CAUSE_ECALL_U 8U

/* --- wrs --- */

static volatile bool illegal;

static bool skip_illegal(struct trap_frame *frame, uint64_t cause, uint64_t stval)
{
    (void)stval;
    illegal = illegal || cause == CAUSE_ILLEGAL_INSTRUCTION;
    frame->sepc += 4;
    frame->sstatus |= cause == CAUSE_ECALL_U ? SSTATUS_SPP : 0;
    return cause == CAUSE_ILLEGAL_INSTRUCTION || cause == CAUSE_ECALL_U;
}

bool fdt_has_text(const uint8_t *fdt, const char *text)
{
    uint32_t size =
        (uint32_t)fdt[4] << 24 | (uint32_t)fdt[5] << 16 | (uint32_t)fdt[6] << 8 | (uint32_t)fdt[7];

    for (uint32_t at = 0; at + strlen(text) <= size; at++) {
        if (memcmp(fdt + at, text, strlen(text)) == 0) {
            return true;
        }
    }
    return false;
}

static inline void wrs_nto(void)
{
    __asm__ volatile(".4byte 0x00d00073" ::: "memory");
}

static void wrs_nto_by_user(void)
{
    __asm__ volatile("la   t0, 1f\n\t"
                     "csrw sepc, t0\n\t"
                     "li   t0, 0x100\n\t" /* SPP: to user mode */
                     "csrc sstatus, t0\n\t"
                     "sret\n\t"
                     ".balign 4\n"
                     "1: .4byte 0x00d00073\n\t" /* wrs.nto */
                     ".4byte 0x00000073\n\t"    /* ecall, returns to the test */
                     ::
                         : "t0", "memory");
}

#define TURNS 100U

static volatile unsigned int turn;

static void take_turns(unsigned int mine)
{
    while (turn < TURNS) {
        if (turn % 2U == mine) {
            turn++;
        } else {
            wrs_nto();
        }
    }
}

static void second_takes_turns(unsigned long hart, void *argument)
{
    (void)hart;
    (void)argument;
    take_turns(1);
}

/* Two harts alternate, each waiting for the other by WRS.NTO. */
static void turns(unsigned long hart)
{
    uint64_t start = csr_read_time();

    start_other_hart(hart, second_takes_turns);
    take_turns(0);
    print("regression: %u turns in %lu us\n", TURNS,
          (unsigned long)((csr_read_time() - start) * 1000U / MS));
}

void wrs(unsigned long hart, const void *fdt)
{
    bool by_supervisor;

    trap_set_exception(skip_illegal);
    wrs_nto();
    by_supervisor = illegal;
    illegal = false;
    wrs_nto_by_user();
    print("regression: zawrs in the device tree: %s; wrs.nto in supervisor mode: %s, in user mode: "
          "%s\n",
          fdt_has_text(fdt, "_zawrs") ? "yes" : "no", by_supervisor ? "illegal" : "passed",
          illegal ? "illegal" : "passed");
    if (!by_supervisor) {
        turns(hart);
    }
}

/* --- widths --- */

#define FINISHER_BASE 0x100000UL
#define RTC_BASE 0x101000UL
#define WIDTHS 4U /* 1, 2, 4, 8 bytes */
#define PAGE 0x1000U
#define LCR_DLAB 0x83U

static volatile uint64_t caught; /* exception of the last access, 0: none */

static bool skip_access(struct trap_frame *frame, uint64_t cause, uint64_t stval)
{
    (void)stval;
    caught = cause;
    frame->sepc += trap_instruction_length(frame->sepc);
    return true;
}

static uint64_t load(uint64_t address, unsigned int width_log2)
{
    uint64_t value = 0;

    caught = 0;
    switch (width_log2) {
    case 0:
        __asm__ volatile("lbu %0, 0(%1)" : "+r"(value) : "r"(address) : "memory");
        break;
    case 1:
        __asm__ volatile("lhu %0, 0(%1)" : "+r"(value) : "r"(address) : "memory");
        break;
    case 2:
        __asm__ volatile("lwu %0, 0(%1)" : "+r"(value) : "r"(address) : "memory");
        break;
    default:
        __asm__ volatile("ld %0, 0(%1)" : "+r"(value) : "r"(address) : "memory");
        break;
    }
    return value;
}

static void store(uint64_t address, unsigned int width_log2, uint64_t value)
{
    caught = 0;
    switch (width_log2) {
    case 0:
        __asm__ volatile("sb %0, 0(%1)" ::"r"(value), "r"(address) : "memory");
        break;
    case 1:
        __asm__ volatile("sh %0, 0(%1)" ::"r"(value), "r"(address) : "memory");
        break;
    case 2:
        __asm__ volatile("sw %0, 0(%1)" ::"r"(value), "r"(address) : "memory");
        break;
    default:
        __asm__ volatile("sd %0, 0(%1)" ::"r"(value), "r"(address) : "memory");
        break;
    }
}

/* Result of an access: a value, or the exception. */
struct given {
    uint64_t value;
    uint64_t cause;
};

/* The accesses at one offset. */
struct row {
    uint64_t address;
    struct given loads[WIDTHS];
    struct given stores[WIDTHS];
};

/*
 * A range of a device's registers. `value` is stored at an offset; clock registers are not
 * compared.
 */
struct piece {
    const char *name;
    uint64_t base;
    uint64_t first, end;
    uint64_t (*value)(uint64_t offset);
    bool is_clock;
};

/*
 * The divisor latch replaces the transmit register, so that nothing is printed; LCR must keep it
 * so.
 */
static uint64_t uart_value(uint64_t offset)
{
    static const uint8_t values[8] = {1, 0, 0, LCR_DLAB, 0, 0, 0, 0x5a};

    return offset < sizeof(values) ? values[offset] : 0;
}

static uint64_t nothing(uint64_t offset)
{
    (void)offset;
    return 0;
}

static uint64_t low_bits(uint64_t offset)
{
    return offset / 4U % 8U;
}

static const struct piece pieces[] = {
    {"finisher", FINISHER_BASE, 0, 16, nothing, false},
    {"finisher", FINISHER_BASE, 0xff8, 0x1000, nothing, false},
    {"rtc", RTC_BASE, 0, 0x30, nothing, true},
    {"plic priorities", PLATFORM_PLIC_BASE, 0, 0x80, low_bits, false},
    {"plic before pending", PLATFORM_PLIC_BASE, 0xff8, 0x1000, nothing, false},
    {"plic pending", PLATFORM_PLIC_BASE, 0x1000, 0x1008, nothing, false},
    {"plic before enables", PLATFORM_PLIC_BASE, 0x1ff8, 0x2000, nothing, false},
    {"plic enables", PLATFORM_PLIC_BASE, 0x2080, 0x2084, nothing, false},
    {"plic last enables", PLATFORM_PLIC_BASE, 0x1ffff8, 0x200000, nothing, false},
    {"plic context", PLATFORM_PLIC_BASE, 0x201000, 0x201010, nothing, false},
    {"plic end", PLATFORM_PLIC_BASE, 0x5ffff8, 0x600008, nothing, false},
    {"uart", PLATFORM_UART_BASE, 0, 0x20, uart_value, false},
    {"uart page", PLATFORM_UART_BASE, 0xf8, 0x108, nothing, false},
};

static void print_given(const struct given *given, bool hide)
{
    if (given->cause != 0) {
        print(" !%lu", (unsigned long)given->cause);
    } else if (hide) {
        print(" time");
    } else {
        print(" %lx", (unsigned long)given->value);
    }
}

static void print_row(const struct piece *p, const struct row *row)
{
    print("regression: %s+%lx:", p->name, (unsigned long)(row->address - p->base));
    for (unsigned int w = 0; w < WIDTHS; w++) {
        print_given(&row->loads[w], p->is_clock && row->address - p->base < 8);
    }
    print(" <-");
    for (unsigned int w = 0; w < WIDTHS; w++) {
        print_given(&row->stores[w], false);
    }
    print("\n");
}

static void try_offset(const struct piece *p, uint64_t offset, struct row *row)
{
    *row = (struct row){.address = p->base + offset};
    for (unsigned int w = 0; w < WIDTHS; w++) {
        /* the next page belongs to another device */
        if (offset / PAGE != (offset + (1U << w) - 1U) / PAGE) {
            continue;
        }
        store(row->address, w, p->value(offset));
        row->stores[w] = (struct given){p->value(offset), caught};
        row->loads[w].value = load(row->address, w);
        row->loads[w].cause = caught;
    }
}

static void try_piece(const struct piece *p)
{
    static struct row rows[0x80];
    bool is_uart = p->base == PLATFORM_UART_BASE;

    if (is_uart) {
        uart_write(UART_LCR, LCR_DLAB);
    }
    for (uint64_t offset = p->first; offset < p->end; offset++) {
        try_offset(p, offset, &rows[offset - p->first]);
    }
    if (is_uart) {
        uart_write(UART_LCR, 3);
        uart_init();
    }
    for (uint64_t offset = p->first; offset < p->end; offset++) {
        print_row(p, &rows[offset - p->first]);
    }
}

void widths(unsigned long hart, const void *fdt)
{
    (void)hart;
    (void)fdt;
    trap_set_exception(skip_access);
    plic_set_threshold(plic_context(hart), 0);
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        try_piece(&pieces[i]);
    }
    print("regression: all widths done\n");
}

/* --- rtc --- */

enum {
    RTC_TIME_LOW = 0x00,
    RTC_TIME_HIGH = 0x04,
    RTC_ALARM_LOW = 0x08,
    RTC_ALARM_HIGH = 0x0c,
    RTC_IRQ_ENABLED = 0x10,
    RTC_CLEAR_ALARM = 0x14,
    RTC_ALARM_STATUS = 0x18,
    RTC_CLEAR_INTERRUPT = 0x1c,
};

#define RTC_IRQ 11U
#define RTC_MS 1000000UL

static uint32_t rtc_read(unsigned long offset)
{
    return *(volatile uint32_t *)(RTC_BASE + offset);
}

static void rtc_write(unsigned long offset, uint64_t value)
{
    *(volatile uint32_t *)(RTC_BASE + offset) = (uint32_t)value;
}

static uint64_t rtc_now(void)
{
    uint64_t low = rtc_read(RTC_TIME_LOW);

    return (uint64_t)rtc_read(RTC_TIME_HIGH) << 32 | low;
}

static void rtc_set_alarm(uint64_t when)
{
    rtc_write(RTC_ALARM_HIGH, when >> 32);
    rtc_write(RTC_ALARM_LOW, when);
}

static volatile uint64_t alarm_at;

static void alarm_comes(void)
{
    uint32_t source = plic_claim(plic_context(0));

    /* Ignore a request that the PLIC has kept from the previous alarm. */
    if (source == RTC_IRQ && rtc_read(RTC_ALARM_STATUS) == 0) {
        alarm_at = rtc_now();
        rtc_write(RTC_CLEAR_INTERRUPT, 1);
    }
    plic_complete(plic_context(0), source);
}

static uint32_t pending_sources(void)
{
    return *(volatile uint32_t *)(PLATFORM_PLIC_BASE + 0x1000);
}

static bool pending(void)
{
    return (pending_sources() & 1U << RTC_IRQ) != 0;
}

/* A past alarm raises the line immediately, if enabled; a cleared alarm does not. */
static void alarms_that_do_not_wait(void)
{
    rtc_set_alarm(rtc_now() - RTC_MS);
    print("regression: past alarm, disabled: pending %u, status %u\n", pending(),
          rtc_read(RTC_ALARM_STATUS));
    rtc_write(RTC_IRQ_ENABLED, 1);
    print("regression: enabled: pending %u\n", pending());
    rtc_write(RTC_CLEAR_INTERRUPT, 1);
    rtc_set_alarm(rtc_now() + 60000U * RTC_MS);
    print("regression: future alarm: status %u\n", rtc_read(RTC_ALARM_STATUS));
    rtc_write(RTC_CLEAR_ALARM, 1);
    print("regression: cleared: status %u\n", rtc_read(RTC_ALARM_STATUS));
}

void rtc(unsigned long hart, const void *fdt)
{
    uint64_t first = rtc_now(), begun = csr_read_time(), ticks, when;

    (void)fdt;
    print("regression: rtc at %lu s\n", (unsigned long)(first / 1000000000U));
    while (csr_read_time() - begun < 20 * MS) {
    }
    ticks = csr_read_time() - begun;
    when = rtc_now() - first;
    print("regression: rtc runs as time does: %s\n",
          when / 100U - ticks < ticks / 8U ? "yes" : "no");
    plic_set_priority(RTC_IRQ, 1);
    plic_set_threshold(plic_context(hart), 0);
    alarms_that_do_not_wait();
    plic_enable(plic_context(hart), RTC_IRQ, true);
    trap_set_interrupt(IRQ_EXTERNAL, alarm_comes);
    csr_write_sie(SIE_EXTERNAL);
    when = rtc_now() + 5 * RTC_MS;
    rtc_set_alarm(when);
    csr_set_sstatus(SSTATUS_SIE);
    while (alarm_at == 0) {
        csr_wait_for_interrupt();
    }
    print("regression: alarm came %s its time, status %u\n", alarm_at >= when ? "after" : "before",
          rtc_read(RTC_ALARM_STATUS));
    rtc_write(RTC_TIME_HIGH, 0x1000);
    rtc_write(RTC_TIME_LOW, 0x1000);
    print("regression: rtc set: high %x\n", (unsigned int)(rtc_now() >> 32));
}

/* The clock's source belongs to the VM's messages: the alarm expires, and no source rises. */
void rtc_no_source(unsigned long hart, const void *fdt)
{
    (void)hart;
    (void)fdt;
    rtc_write(RTC_IRQ_ENABLED, 1);
    rtc_set_alarm(rtc_now() + 5 * RTC_MS);
    while (rtc_read(RTC_ALARM_STATUS) != 0) {
    }
    print("regression: alarm expired: pending sources %x\n", pending_sources());
}

/* --- plic --- */

#define CLAIMS 3U

/* Both lines are high: the clock's alarm is past, and the UART's transmitter is empty. */
static void claim_both(const char *name, uint32_t uart_priority, uint32_t rtc_priority)
{
    uint32_t claimed[CLAIMS];

    plic_set_priority(PLATFORM_UART_IRQ, uart_priority);
    plic_set_priority(RTC_IRQ, rtc_priority);
    rtc_set_alarm(0);
    rtc_write(RTC_IRQ_ENABLED, 1);
    uart_write(UART_IER, UART_IER_TX_EMPTY);
    for (unsigned int i = 0; i < CLAIMS; i++) {
        claimed[i] = plic_claim(plic_context(0));
    }
    uart_write(UART_IER, 0);
    rtc_write(RTC_CLEAR_INTERRUPT, 1);
    rtc_write(RTC_IRQ_ENABLED, 0);
    for (unsigned int i = 0; i < CLAIMS; i++) {
        plic_complete(plic_context(0), claimed[i]);
    }
    print("regression: %s: claimed %u, %u, %u\n", name, claimed[0], claimed[1], claimed[2]);
}

void plic(unsigned long hart, const void *fdt)
{
    (void)fdt;
    plic_set_threshold(plic_context(hart), 0);
    plic_enable(plic_context(hart), PLATFORM_UART_IRQ, true);
    plic_enable(plic_context(hart), RTC_IRQ, true);
    claim_both("equal priorities", 1, 1);
    claim_both("the clock's is higher", 1, 2);
    claim_both("the UART's is higher", 7, 6);
    claim_both("the clock's is never claimed", 1, 0);
    print("regression: all claimed\n");
}

/* --- seed --- */

void seed(unsigned long hart, const void *fdt)
{
    uint32_t length = 0;
    const uint8_t *bytes = fdt_property(fdt, "chosen", "rng-seed", &length);

    (void)hart;
    print("regression: seed of %u bytes:", bytes != NULL ? length : 0);
    for (uint32_t i = 0; bytes != NULL && i < length; i++) {
        print("%02x", bytes[i]);
    }
    print(".\n");
    for (uint64_t begun = csr_read_time(); csr_read_time() - begun < 50 * MS;) {
    }
    (void)sbi_system_reset(SBI_RESET_COLD, 0);
}

/* --- the test finisher --- */

static void finish(uint32_t value)
{
    print("regression: finishing\n");
    *(volatile uint32_t *)FINISHER_BASE = value;
    print("regression: still here\n");
}

void finish_off(unsigned long hart, const void *fdt)
{
    (void)hart;
    (void)fdt;
    finish(0x5555);
}

void finish_reset(unsigned long hart, const void *fdt)
{
    (void)hart;
    (void)fdt;
    finish(0x7777);
}

void finish_failed(unsigned long hart, const void *fdt)
{
    (void)hart;
    (void)fdt;
    finish(0x3333 | 5U << 16);
}

/* --- pvpanic --- */

#define PVPANIC_BASE 0x102000UL
#define PVPANIC_PANICKED 1U
#define PVPANIC_CRASH_LOADED 2U

/* As Linux does: with a kernel that saves a dump, then without one. */
void panic_reported(unsigned long hart, const void *fdt)
{
    volatile uint8_t *event = (volatile uint8_t *)PVPANIC_BASE;

    (void)hart;
    (void)fdt;
    print("regression: pvpanic: events %u, next byte %u\n", event[0], event[1]);
    event[0] = PVPANIC_CRASH_LOADED;
    event[1] = PVPANIC_PANICKED;
    print("regression: saves a dump\n");
    event[0] = PVPANIC_PANICKED;
    print("regression: still here\n");
}
