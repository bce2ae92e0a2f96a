/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A minimal guest: prints its VM and checks that timer interrupts are on time; then it shuts down.
 */
#include <stddef.h>

#include "fdt.h"
#include "hcall.h"
#include "machine.h"
#include "print.h"
#include "timer.h"
#include "uart.h"

#define GREET_TICKS 5U
#define GREET_TICK (PLATFORM_TIMEBASE_HZ / 1000U)

int main(unsigned long hart, const void *fdt);

/* Sleeps until `until`; true if the wake-up was on time. */
static bool greet_sleep(uint64_t until)
{
    timer_set(until);
    while (machine_time() < until) {
        machine_wait();
    }
    return machine_time() < until + GREET_TICK;
}

int main(unsigned long hart, const void *fdt)
{
    struct hcall_ret id = hcall_get_id();
    char name[16] = "world";
    uint64_t next;

    uart_init();
    (void)timer_init();
    (void)fdt_bootarg(fdt, "name", name, sizeof(name));
    print("hello, %s %s: CPU %lu of VM %ld\n", name, MACHINE_NAME, hart,
          id.error == HCALL_OK ? (long)id.value : -1L);
    machine_wake_by_timer(true);
    next = machine_time();
    for (unsigned int i = 1; i <= GREET_TICKS; i++) {
        next += GREET_TICK;
        print("greet: tick %u%s\n", i, greet_sleep(next) ? "" : ", late");
    }
    print("greet: done\n");
    return 0;
}
