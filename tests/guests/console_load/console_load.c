/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The maximum number of harts of a VM, all asleep and woken at the same time: the hypervisor's work
 * for all of them must not be one non-preemptible section. Boot argument do=sleep: the timers of
 * all harts expire at the same moment, in all VMs with this role. do=lines: the first hart raises
 * an interrupt line that all others have enabled, by changing the line's priority. do=ipi: the
 * first hart sends an IPI to all others. do=write, ready, dots, keys (console.c) and watchdog
 * (watchdog.c): see console_load.h.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "console_load.h"
#include "csr.h"
#include "fdt.h"
#include "platform.h"
#include "plic.h"
#include "print.h"
#include "sbi.h"
#include "timer.h"
#include "trap.h"
#include "uart.h"

#define PERIOD (PLATFORM_TIMEBASE_HZ / 500) /* ticks */

static uint8_t load_stacks[LOAD_HARTS][1024] __attribute__((aligned(16)));
static struct hart_boot load_boots[LOAD_HARTS];

void load_sleep_to_tick(void)
{
    uint64_t next = (csr_read_time() / PERIOD + 1) * PERIOD;

    timer_set(next);
    while (csr_read_time() < next) {
        csr_wait_for_interrupt();
    }
}

void load_sleeper(unsigned long hart, void *argument)
{
    (void)hart, (void)argument;
    csr_write_sie(SIE_TIMER);
    for (;;) {
        load_sleep_to_tick();
    }
}

void load_listener(unsigned long hart, void *argument)
{
    uint32_t context = plic_context(hart);

    (void)argument;
    csr_write_sie(SIE_EXTERNAL);
    for (;;) {
        csr_wait_for_interrupt();
        for (uint32_t source = plic_claim(context); source != 0; source = plic_claim(context)) {
            plic_complete(context, source);
        }
    }
}

void load_start_hart(unsigned long hart, void (*function)(unsigned long hart, void *argument))
{
    plic_enable(plic_context(hart), PLATFORM_UART_IRQ, true);
    load_boots[hart] =
        (struct hart_boot){load_stacks[hart] + sizeof(load_stacks[hart]), function, NULL};
    if (sbi_hart_start(hart, (uintptr_t)hart_entry, (uintptr_t)&load_boots[hart]).error !=
        HCALL_OK) {
        print("console_load: hart %lu does not start\n", hart);
    }
}

void load_start(void (*function)(unsigned long hart, void *argument))
{
    for (unsigned long hart = 1; hart < LOAD_HARTS; hart++) {
        load_start_hart(hart, function);
    }
}

/* The transmitter is empty, so that its line goes high as soon as its interrupt is enabled. */
static void load_raise(void)
{
    plic_set_priority(PLATFORM_UART_IRQ, 0);
    uart_write(UART_IER, UART_IER_TX_EMPTY);
    load_sleep_to_tick();
    plic_set_priority(PLATFORM_UART_IRQ, ORDINARY);
    load_sleep_to_tick();
    uart_write(UART_IER, 0);
}

static void load_sleep(const void *fdt)
{
    (void)fdt;
    load_start(load_sleeper);
    csr_write_sie(SIE_TIMER);
    for (unsigned round = 0; round < ROUNDS; round++) {
        load_sleep_to_tick();
    }
}

static void load_share_line(const void *fdt)
{
    (void)fdt;
    load_start(load_listener);
    csr_write_sie(SIE_TIMER);
    for (unsigned round = 0; round < ROUNDS; round++) {
        load_raise();
    }
}

static void load_called(unsigned long hart, void *argument)
{
    (void)hart, (void)argument;
    csr_write_sie(SIE_SOFT);
    for (;;) {
        csr_wait_for_interrupt();
        csr_clear_sip(SIE_SOFT);
    }
}

/* The first hart sends an IPI to all others, which sleep. */
static void load_call(const void *fdt)
{
    (void)fdt;
    load_start(load_called);
    csr_write_sie(SIE_TIMER);
    for (unsigned round = 0; round < ROUNDS; round++) {
        load_sleep_to_tick();
        (void)sbi_send_ipi((struct sbi_harts){(1UL << LOAD_HARTS) - 2U, 0});
    }
}

static const struct {
    const char *name;
    void (*run)(const void *fdt);
} load_kinds[] = {
    {"sleep", load_sleep},       {"lines", load_share_line}, {"write", load_write},
    {"ready", load_ready},       {"keys", load_keys},        {"ipi", load_call},
    {"watchdog", load_watchdog}, {"dots", load_dots},
};

int main(unsigned long hart, const void *fdt);

int main(unsigned long hart, const void *fdt)
{
    char what[12] = "";

    (void)hart;
    uart_init();
    (void)timer_init();
    (void)fdt_bootarg(fdt, "do", what, sizeof(what));
    for (size_t i = 0; i < sizeof(load_kinds) / sizeof(load_kinds[0]); i++) {
        if (strcmp(what, load_kinds[i].name) == 0) {
            load_kinds[i].run(fdt);
        }
    }
    print("console_load: done\n");
    csr_write_sie(SIE_TIMER);
    for (;;) {
        load_sleep_to_tick();
    }
}
