/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The codec as a bare-metal loop without interrupts, natively and in a VM; work.h has the boot
 * arguments.
 */
#include "machine.h"
#include "platform.h"
#include "print.h"
#include "timer.h"
#include "uart.h"
#include "work.h"

int main(unsigned long hart, const void *fdt);

static struct work work; /* owner: main() */

int main(unsigned long hart, const void *fdt)
{
    uint64_t print_at;

    (void)hart;
    uart_init();
    (void)timer_init();
    print("adpcm: G.722 without an operating system\n");
    work_prepare(&work, fdt);
    work_run(&work);
    print_at = machine_time() + work_pause_ms() * (PLATFORM_TIMEBASE_HZ / 1000U);
    timer_set(print_at);
    machine_wake_by_timer(true);
    while (machine_time() < print_at) {
        machine_wait();
    }
    work_report(&work, 0);
}
