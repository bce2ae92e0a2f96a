/* SPDX-License-Identifier: Apache-2.0 */
/* Unusual use of the guest's own devices, and of its console. */
#include "attacker.h"
#include "platform.h"
#include "plic.h"
#include "print.h"
#include "sbi.h"
#include "uart.h"

#define LCR_DLAB 0x83U

/* Loads and stores of every width: lb, lbu, lh, lhu, lw, lwu, ld; sb, sh, sw, sd. */
static const uint32_t loads[] = {0x00050503U, 0x00054503U, 0x00051503U, 0x00055503U,
                                 0x00052503U, 0x00056503U, 0x00053503U};
static const uint32_t stores[] = {0x00b50023U, 0x00b51023U, 0x00b52023U, 0x00b53023U};

/* A device and the widths of aligned accesses that it supports, as a mask. */
struct device {
    uint64_t base, size;
    uint64_t widths;
};

static const struct device uart = {PLATFORM_UART_BASE, UART_SIZE, 1 | 2 | 4 | 8};
static const struct device plic = {PLATFORM_PLIC_BASE, PLIC_SIZE, 4};
static const struct device finisher = {FINISHER_BASE, FINISHER_SIZE, 2 | 4};
static const struct device rtc = {RTC_BASE, RTC_SIZE, 4 | 8};

/*
 * True if the device supports the access. A misaligned access is split into aligned ones within a
 * page.
 */
static bool answers(const struct device *d, uint64_t address, uint64_t size)
{
    uint64_t end = address + size;

    if ((address % size != 0 && address / 0x1000 != (end - 1) / 0x1000)) {
        return false;
    }
    while (address < end) {
        uint64_t either = address | (end - address), piece = either & (0 - either);

        if ((d->widths & piece) == 0 || address - d->base >= d->size ||
            address + piece > d->base + d->size) {
            return false;
        }
        address += piece;
    }
    return true;
}

static uint64_t size_of(uint32_t word)
{
    return 1UL << (word >> 12 & 3U);
}

static void try_register(struct verdict *v, const struct device *d, uint64_t address,
                         uint64_t value)
{
    for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
        struct caught c = try_word(SUPERVISOR, loads[i], address, 0);
        uint64_t must = answers(d, address, size_of(loads[i])) ? CAUSE_NONE : CAUSE_LOAD_ACCESS;

        judge(v, c.cause == must, "load %x at 0x%lx: cause %ld", loads[i], address, (long)c.cause);
    }
    for (size_t i = 0; i < sizeof(stores) / sizeof(stores[0]); i++) {
        struct caught c = try_word(SUPERVISOR, stores[i], address, value);
        uint64_t must = answers(d, address, size_of(stores[i])) ? CAUSE_NONE : CAUSE_STORE_ACCESS;

        judge(v, c.cause == must, "store %x at 0x%lx: cause %ld", stores[i], address,
              (long)c.cause);
    }
}

/*
 * Every offset up to some beyond the last register, every width, aligned and misaligned. The
 * divisor latch replaces the transmit register, so that nothing is printed.
 */
void uart_registers(struct verdict *v, uint64_t arg)
{
    (void)arg;
    for (uint64_t offset = 0; offset < UART_SIZE + 16; offset++) {
        uart_write(UART_LCR, LCR_DLAB);
        try_register(v, &uart, PLATFORM_UART_BASE + offset, offset == UART_LCR ? LCR_DLAB : 0);
    }
    uart_write(UART_LCR, 3);
    uart_init();
    uart_write(UART_SCR, 0x5a);
    judge(v, uart_read(UART_SCR) == 0x5a, "the UART does not work any more");
}

void plic_registers(struct verdict *v, uint64_t arg)
{
    (void)arg;
    for (uint64_t offset = 0; offset < PLIC_SIZE; offset += offset < 0x2400 ? 3 : 0x7ffd) {
        try_register(v, &plic, PLATFORM_PLIC_BASE + offset, ~0UL);
    }
    for (uint64_t context = 0; context < 32; context++) {
        try_register(v, &plic, PLATFORM_PLIC_BASE + 0x200000 + context * 0x1000, context);
        try_register(v, &plic, PLATFORM_PLIC_BASE + 0x200004 + context * 0x1000, ~0UL);
        try_register(v, &plic, PLATFORM_PLIC_BASE + 0x2000 + context * 0x80, ~0UL);
    }
    try_register(v, &plic, PLATFORM_PLIC_BASE + PLIC_SIZE - 1, ~0UL);
}

/* The test finisher with meaningless values, and the clock with arbitrary ones. */
void machine_registers(struct verdict *v, uint64_t arg)
{
    (void)arg;
    for (uint64_t offset = 0; offset < FINISHER_SIZE; offset += offset < 0x40 ? 1 : 0x3d) {
        try_register(v, &finisher, FINISHER_BASE + offset, ~0UL);
    }
    for (uint64_t offset = 0; offset < RTC_SIZE + 16; offset++) {
        try_register(v, &rtc, RTC_BASE + offset, ~0UL << offset);
    }
}

/*
 * The latest possible alarm on a clock set to 0: less than 2^64 ns ahead, but more than that after
 * the start of the machine.
 */
static void last_alarm(struct verdict *v, volatile uint32_t *registers)
{
    uint64_t end = csr_read_time() + 10UL * MS;

    registers[1] = 0;
    registers[0] = 0;
    registers[3] = UINT32_MAX;
    registers[2] = UINT32_MAX;
    while (csr_read_time() < end) {
    }
    judge(v, registers[6] == 1, "the last alarm runs: %u", registers[6]);
    registers[5] = 1;
}

/* Alarms that are past or a few microseconds ahead, on an interrupt line without a handler. */
void alarm_storm(struct verdict *v, uint64_t arg)
{
    volatile uint32_t *registers = (volatile uint32_t *)RTC_BASE;
    uint64_t end;

    (void)arg;
    last_alarm(v, registers);
    end = csr_read_time() + 10UL * MS;
    for (uint32_t n = 0; csr_read_time() < end; n++) {
        uint64_t low = registers[0], now = (uint64_t)registers[1] << 32 | low,
                 when = now + n % 5U * 1000U;

        registers[4] = n & 1U;
        registers[3] = (uint32_t)(when >> 32);
        registers[2] = (uint32_t)when;
        registers[7] = 1;
        judge(v, registers[2] == (uint32_t)when, "alarm %u", n);
    }
}

/* Accesses that no emulated device supports: atomics, floating point, fetches. */
void device_atomics(struct verdict *v, uint64_t arg)
{
    static const struct {
        uint32_t word;
        uint64_t cause;
    } tries[] = {
        {0x1005252fU, CAUSE_LOAD_ACCESS},
        {0x00b5252fU, CAUSE_STORE_ACCESS},
        {0x08b5352fU, CAUSE_STORE_ACCESS},
        {0x00052507U, CAUSE_LOAD_ACCESS},
        {0x00053507U, CAUSE_LOAD_ACCESS},
        {0x00b53027U, CAUSE_STORE_ACCESS},
        {0x00012108U, CAUSE_LOAD_ACCESS} /* c.fld */,
        {0x0001a108U, CAUSE_STORE_ACCESS} /* c.fsd */,
        {WORD_JR, CAUSE_INSTRUCTION_ACCESS},
    };
    static const uint64_t devices[] = {PLATFORM_UART_BASE,
                                       PLATFORM_UART_BASE + 8,
                                       PLATFORM_PLIC_BASE + 8,
                                       PLATFORM_PLIC_BASE + 0x201000,
                                       FINISHER_BASE,
                                       FINISHER_BASE + 8,
                                       RTC_BASE,
                                       RTC_BASE + 8};

    (void)arg;
    for (size_t d = 0; d < sizeof(devices) / sizeof(devices[0]); d++) {
        for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
            struct caught c = try_word(SUPERVISOR, tries[i].word, devices[d], 0);

            /* QEMU performs the load of an atomic first (memory.c) */
            judge(v, c.cause == tries[i].cause || (i < 3 && c.cause == CAUSE_LOAD_ACCESS),
                  "%x at 0x%lx: cause %ld", tries[i].word, devices[d], (long)c.cause);
        }
    }
}

/* Device accesses with unusual registers, such as x0 as target and x2 as address. */
void device_operands(struct verdict *v, uint64_t arg)
{
    (void)arg;
    uart_write(UART_SCR, 0xa5);
    for (uint32_t rd = 0; rd < 32; rd++) {
        static volatile uint32_t code[4];
        struct caught c;

        code[0] = 0x00754003U | rd << 7;               /* lbu rd, 7(a0) */
        code[1] = 0x00000513U | rd << 15;              /* mv a0, rd */
        code[2] = rd == 1 ? 0x0005b083U : 0x00000013U; /* ld ra, 0(a1): the return address */
        code[3] = WORD_RET;
        __asm__ volatile("fence.i" ::: "memory");
        /* return address and stack pointer; guard_enter restores the latter */
        if (rd == 1 || rd == 2) {
            continue;
        }
        c = guarded(SUPERVISOR, (uintptr_t)code, PLATFORM_UART_BASE, 0);
        judge(v, c.cause == CAUSE_NONE && c.value == (rd == 0 ? 0 : 0xa5U),
              "x%u: cause %ld, value 0x%lx", rd, (long)c.cause, c.value);
    }
}

/* --- interrupt storms of devices --- */

static volatile unsigned long interrupts;

/* Completed but not served: the interrupt is raised again immediately. */
static void external(void)
{
    uint32_t source = plic_claim(plic_context(0));

    if (++interrupts > 3000) {
        csr_write_sie(0);
    }
    plic_complete(plic_context(0), source);
}

/* Raises the UART's line: in loopback, a received character is never read. */
static void raise_line(void)
{
    plic_set_priority(PLATFORM_UART_IRQ, 7);
    plic_set_threshold(plic_context(0), 0);
    plic_enable(plic_context(0), PLATFORM_UART_IRQ, true);
    uart_write(UART_MCR, 0x10); /* loopback */
    uart_write(UART_THR, 'x');
    uart_write(UART_IER, UART_IER_RX);
}

void external_storm(struct verdict *v, uint64_t arg)
{
    (void)arg;
    trap_set_interrupt(IRQ_EXTERNAL, external);
    raise_line();
    csr_write_sie(SIE_EXTERNAL);
    csr_set_sstatus(SSTATUS_SIE);
    spin(10UL * MS);
    csr_clear_sstatus(SSTATUS_SIE);
    judge(v, interrupts > 1000, "only %lu interrupts came", interrupts);
    v->tried += interrupts;
    uart_init();
}

/* Claims without pending interrupts, completions without claims. */
void plic_storm(struct verdict *v, uint64_t arg)
{
    (void)arg;
    for (uint32_t n = 0; n < 3000; n++) {
        plic_complete(n % 4, n * 0x01010101U);
        judge(v, plic_claim(n % 4) == 0, "claimed something");
        plic_set_priority(n % 32, n);
        plic_enable(n % 4, n % 32, n % 2 != 0);
    }
}

/* Invalid completions of a claimed source: a number with the same low bits, another context. */
void plic_completions(struct verdict *v, uint64_t arg)
{
    static const uint32_t numbers[] = {0,
                                       PLATFORM_UART_IRQ + 1,
                                       PLATFORM_UART_IRQ + 32,
                                       PLATFORM_UART_IRQ + 64,
                                       PLATFORM_UART_IRQ | 1U << 16,
                                       PLATFORM_UART_IRQ | 1U << 31,
                                       ~0U};

    (void)arg;
    raise_line();
    judge(v, plic_claim(plic_context(0)) == PLATFORM_UART_IRQ, "not claimed");
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        plic_complete(plic_context(0), numbers[i]);
        judge(v, plic_claim(plic_context(0)) == 0, "completed by 0x%x", numbers[i]);
    }
    for (unsigned int context = 0; context < 32; context++) {
        if (context != plic_context(0)) {
            plic_complete(context, PLATFORM_UART_IRQ);
            judge(v, plic_claim(plic_context(0)) == 0, "completed by context %u", context);
        }
    }
    plic_complete(plic_context(0), PLATFORM_UART_IRQ);
    judge(v, plic_claim(plic_context(0)) == PLATFORM_UART_IRQ, "not completed");
    plic_complete(plic_context(0), PLATFORM_UART_IRQ);
    uart_init();
}

/* --- the console --- */

void console_flood(struct verdict *v, uint64_t arg)
{
    (void)arg;
    for (unsigned int n = 0; n < 150; n++) {
        print("attacker: flood %u ............................................................\n",
              n);
    }
    for (unsigned int n = 0; n < 3000; n++) { /* without reading the status, without a newline */
        uart_write(UART_THR, (uint8_t)('a' + n % 26));
    }
    /* the legacy and the debug console calls, which wait for space */
    for (unsigned int n = 0; n < 3000; n++) {
        struct sbi_ret ret = n < 1500 ? sbi_call(SBI_LEGACY_PUTCHAR, 0, 'a' + n % 26, 0, 0)
                                      : sbi_call(SBI_EXT_DBCN, 2, 'a' + n % 26, 0, 0);

        judge(v, ret.error == 0, "character %u: error %ld", n, ret.error);
    }
    uart_write(UART_THR, '\n');
    judge(v, true, "done");
}

/*
 * Sequences that move the cursor, clear the screen, change the character set or never end; Ctrl-T;
 * all characters.
 */
void console_escapes(struct verdict *v, uint64_t arg)
{
    static const char *const texts[] = {"\x1b[2J",
                                        "\x1b[999;999H",
                                        "\x1b[1;1r",
                                        "\x1b(0",
                                        "\x1b]0;title\x07",
                                        "\x1b[?25l",
                                        "\x1b[8m",
                                        "\x1b[6n",
                                        "\x14l\x14q",
                                        "\x14r\x14s",
                                        "\x1b",
                                        "\x1b[",
                                        "\x1b[99999999999999999999999999m",
                                        "\23331m",
                                        "\r\r\r\b\b\b\b\b\b",
                                        "\x0f\x0e\x05\x11\x13"};

    (void)arg;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        print("%s", texts[i]);
    }
    print("\x1b[0m\x1b(B\x1b[?25h\x1b[r\n");
    for (unsigned int c = 0; c < 256; c++) {
        uart_put((char)c);
    }
    print("\x1b[0m\n\n");
    for (unsigned int n = 0; n < 100; n++) {
        (void)sbi_call(SBI_LEGACY_PUTCHAR, 0, '\x1b', 0, 0); /* by the legacy console */
        (void)sbi_call(SBI_EXT_DBCN, 2, '\x14', 0, 0);
    }
    print("\x1b[0m\n");
    judge(v, true, "done");
}
