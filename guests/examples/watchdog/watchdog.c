/* SPDX-License-Identifier: Apache-2.0 */
/* A guest that hangs in its tenth round: its watchdog restarts it (docs/virtual-platform.md). */
#include "hcall.h"
#include "machine.h"
#include "platform.h"
#include "print.h"
#include "timer.h"
#include "uart.h"

#define ROUNDS 10U
#define ROUND (PLATFORM_TIMEBASE_HZ / 100U)

int main(unsigned long hart, const void *fdt);

/* Takes 10 ms; the tenth call does not return. */
static void work(void)
{
    static unsigned int round;
    uint64_t end = machine_time() + ROUND;

    round++;
    print("watchdog: round %u\n", round);
    while (machine_time() < end || round == ROUNDS) {
    }
}

int main(unsigned long hart, const void *fdt)
{
    (void)hart, (void)fdt;
    uart_init();
    /* listing: watchdog */
    for (;;) {
        work();
        (void)hcall_watchdog_pet(); /* its value is the period: 500 */
    }
    /* listing end */
}
