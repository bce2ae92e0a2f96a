/* SPDX-License-Identifier: Apache-2.0 */
/*
 * VMs whose watchdogs expire at the same moment. Because they share a hart they cannot pet at the
 * same moment: their periods differ, and each VM pets one period before the common expiry.
 */
#include <stddef.h>
#include <stdint.h>

#include "console_load.h"
#include "csr.h"
#include "fdt.h"
#include "hcall.h"
#include "platform.h"
#include "print.h"
#include "timer.h"

#define MS (PLATFORM_TIMEBASE_HZ / 1000) /* ticks */
#define TOGETHER (400 * MS)
#define PET (20 * MS)
#define EARLY 200U /* ticks: allowance for the wake-up */

static void load_sleep_forever(unsigned long hart, void *argument)
{
    (void)hart, (void)argument;
    csr_write_sie(0);
    for (;;) {
        csr_wait_for_interrupt();
    }
}

/* Waits until `moment`, exact to the tick if no other VM runs. */
static void load_until(uint64_t moment)
{
    timer_set(moment - EARLY);
    while (csr_read_time() < moment - EARLY) {
        csr_wait_for_interrupt();
    }
    timer_set(UINT64_MAX);
    while (csr_read_time() < moment) {
    }
}

static uint64_t load_period(const void *fdt)
{
    char text[8] = "";
    uint64_t ms = 0;

    (void)fdt_bootarg(fdt, "ms", text, sizeof(text));
    for (const char *c = text; *c >= '0' && *c <= '9'; c++) {
        ms = ms * 10 + (uint64_t)(*c - '0');
    }
    return ms * MS;
}

void load_watchdog(const void *fdt)
{
    uint64_t period = load_period(fdt);
    uint64_t together;

    load_start(load_sleep_forever);
    print("console_load: up\n");
    csr_write_sie(SIE_TIMER);
    together = ((csr_read_time() + period + PET) / TOGETHER + 1) * TOGETHER;
    while (together - csr_read_time() > period + PET) {
        (void)hcall_watchdog_pet();
        load_until(csr_read_time() + PET);
    }
    (void)hcall_watchdog_pet();
    load_until(together - period);
    (void)hcall_watchdog_pet();
    load_sleep_forever(0, NULL);
}
