/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uses the VM's accelerators while it, or another VM, misbehaves: for
 * tests/e2e/test_accelerators_faults.py. The word `mode=` of the kernel's arguments selects how.
 */
#include <stddef.h>

#include "fdt.h"
#include "machine.h"
#include "modes.h"
#include "print.h"
#include "timer.h"

int main(unsigned long hart, const void *fdt);

void wait_until(uint64_t time)
{
    timer_set(time);
    machine_wake_by_timer(true);
    while (machine_time() < time) {
        machine_wait();
    }
    timer_set(UINT64_MAX);
    machine_wake_by_timer(false);
}

static unsigned int in_mode(const char *mode, const void *fdt)
{
    switch (mode[0]) {
    case 'm':
        return mortal(fdt);
    case 'b':
        return beside(fdt);
    case 'r':
        return refused(fdt);
    case 's':
        return steady(fdt);
    default:
        return harts(fdt);
    }
}

int main(unsigned long hart, const void *fdt)
{
    char mode[16];

    (void)hart;
    (void)timer_init();
    if (fdt_bootarg(fdt, "mode", mode, sizeof(mode)) == NULL) {
        print("accel: no mode= in the arguments\n");
        return 1;
    }
    return (int)(in_mode(mode, fdt) != 0);
}
