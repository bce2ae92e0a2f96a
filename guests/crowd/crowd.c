/* SPDX-License-Identifier: Apache-2.0 */
/*
 * As many harts as a VM may have, all asleep, and woken all at once: what the hypervisor does for each of them must not
 * be done in one go. Boot argument do=sleep: their timers are due at the same moment, which other VMs of this kind
 * share. do=lines: the first hart raises an interrupt line that all others have enabled, by the line's priority.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "csr.h"
#include "fdt.h"
#include "platform.h"
#include "plic.h"
#include "print.h"
#include "sbi.h"
#include "timer.h"
#include "trap.h"
#include "uart.h"

#define CROWD 8U
#define ROUNDS 40U
#define PERIOD (PLATFORM_TIMEBASE_HZ / 500) /* ticks */
#define ORDINARY 7U                         /* a priority */

static uint8_t crowd_stacks[CROWD][1024] __attribute__((aligned(16)));
static struct hart_boot crowd_boots[CROWD];

/* Until a moment that all harts of all such VMs have in common. */
static void crowd_doze(void)
{
    uint64_t next = (csr_read_time() / PERIOD + 1) * PERIOD;

    timer_set(next);
    while (csr_read_time() < next) {
        csr_wait_for_interrupt();
    }
}

static void crowd_sleeper(unsigned long hart, void *argument)
{
    (void)hart, (void)argument;
    csr_write_sie(SIE_TIMER);
    for (;;) {
        crowd_doze();
    }
}

static void crowd_listener(unsigned long hart, void *argument)
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

static void crowd_start(void (*function)(unsigned long hart, void *argument))
{
    for (unsigned long hart = 1; hart < CROWD; hart++) {
        plic_enable(plic_context(hart), PLATFORM_UART_IRQ, true);
        crowd_boots[hart] = (struct hart_boot){crowd_stacks[hart] + sizeof(crowd_stacks[hart]), function, NULL};
        if (sbi_hart_start(hart, (uintptr_t)hart_entry, (uintptr_t)&crowd_boots[hart]).error != SBI_SUCCESS) {
            print("crowd: hart %lu does not start\n", hart);
        }
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

int main(unsigned long hart, const void *fdt);

int main(unsigned long hart, const void *fdt)
{
    char what[8] = "";
    bool lines;

    (void)hart;
    uart_init();
    (void)timer_init();
    (void)fdt_bootarg(fdt, "do", what, sizeof(what));
    lines = strcmp(what, "lines") == 0;
    crowd_start(lines ? crowd_listener : crowd_sleeper);
    csr_write_sie(SIE_TIMER);
    for (unsigned round = 0; round < ROUNDS; round++) {
        if (lines) {
            crowd_raise();
        } else {
            crowd_doze();
        }
    }
    print("crowd: done\n");
    for (;;) {
        crowd_doze();
    }
}
