/* SPDX-License-Identifier: Apache-2.0 */
/*
 * As many harts as a VM may have, all asleep, and woken all at once: what the hypervisor does for each of them must not
 * be done in one go. Boot argument do=sleep: their timers are due at the same moment, which other VMs of this kind
 * share. do=lines: the first hart raises an interrupt line that all others have enabled, by the line's priority.
 * do=write, ready, keys (console.c) and watchdog (watchdog.c): crowd.h says what.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "crowd.h"
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

static uint8_t crowd_stacks[CROWD][1024] __attribute__((aligned(16)));
static struct hart_boot crowd_boots[CROWD];

void crowd_doze(void)
{
    uint64_t next = (csr_read_time() / PERIOD + 1) * PERIOD;

    timer_set(next);
    while (csr_read_time() < next) {
        csr_wait_for_interrupt();
    }
}

void crowd_sleeper(unsigned long hart, void *argument)
{
    (void)hart, (void)argument;
    csr_write_sie(SIE_TIMER);
    for (;;) {
        crowd_doze();
    }
}

void crowd_listener(unsigned long hart, void *argument)
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

void crowd_start_hart(unsigned long hart, void (*function)(unsigned long hart, void *argument))
{
    plic_enable(plic_context(hart), PLATFORM_UART_IRQ, true);
    crowd_boots[hart] = (struct hart_boot){crowd_stacks[hart] + sizeof(crowd_stacks[hart]), function, NULL};
    if (sbi_hart_start(hart, (uintptr_t)hart_entry, (uintptr_t)&crowd_boots[hart]).error != SBI_SUCCESS) {
        print("crowd: hart %lu does not start\n", hart);
    }
}

void crowd_start(void (*function)(unsigned long hart, void *argument))
{
    for (unsigned long hart = 1; hart < CROWD; hart++) {
        crowd_start_hart(hart, function);
    }
}

/* The transmitter is empty, so that its line is high as soon as its interrupt is enabled. */
static void crowd_raise(void)
{
    plic_set_priority(PLATFORM_UART_IRQ, 0);
    uart_write(UART_IER, UART_IER_TX_EMPTY);
    crowd_doze();
    plic_set_priority(PLATFORM_UART_IRQ, ORDINARY);
    crowd_doze();
    uart_write(UART_IER, 0);
}

static void crowd_sleep(const void *fdt)
{
    (void)fdt;
    crowd_start(crowd_sleeper);
    csr_write_sie(SIE_TIMER);
    for (unsigned round = 0; round < ROUNDS; round++) {
        crowd_doze();
    }
}

static void crowd_share_line(const void *fdt)
{
    (void)fdt;
    crowd_start(crowd_listener);
    csr_write_sie(SIE_TIMER);
    for (unsigned round = 0; round < ROUNDS; round++) {
        crowd_raise();
    }
}

static void crowd_called(unsigned long hart, void *argument)
{
    (void)hart, (void)argument;
    csr_write_sie(SIE_SOFT);
    for (;;) {
        csr_wait_for_interrupt();
        csr_clear_sip(SIE_SOFT);
    }
}

/* The first hart calls all others, which sleep. */
static void crowd_call(const void *fdt)
{
    (void)fdt;
    crowd_start(crowd_called);
    csr_write_sie(SIE_TIMER);
    for (unsigned round = 0; round < ROUNDS; round++) {
        crowd_doze();
        (void)sbi_send_ipi((struct sbi_harts){(1UL << CROWD) - 2U, 0});
    }
}

static const struct {
    const char *name;
    void (*run)(const void *fdt);
} crowd_kinds[] = {
    {"sleep", crowd_sleep}, {"lines", crowd_share_line}, {"write", crowd_write},       {"ready", crowd_ready},
    {"keys", crowd_keys},   {"ipi", crowd_call},         {"watchdog", crowd_watchdog}, {"dots", crowd_dots},
};

int main(unsigned long hart, const void *fdt);

int main(unsigned long hart, const void *fdt)
{
    char what[12] = "";

    (void)hart;
    uart_init();
    (void)timer_init();
    (void)fdt_bootarg(fdt, "do", what, sizeof(what));
    for (size_t i = 0; i < sizeof(crowd_kinds) / sizeof(crowd_kinds[0]); i++) {
        if (strcmp(what, crowd_kinds[i].name) == 0) {
            crowd_kinds[i].run(fdt);
        }
    }
    print("crowd: done\n");
    csr_write_sie(SIE_TIMER);
    for (;;) {
        crowd_doze();
    }
}
