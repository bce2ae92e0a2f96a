/* SPDX-License-Identifier: Apache-2.0 */
/* Mode `steady` (modes.h): small jobs without end, in the VM that another VM attacks. */
#include "machine.h"
#include "modes.h"
#include "print.h"
#include "work.h"

#define JOB 64U /* bytes */
#define PAUSE (PLATFORM_TIMEBASE_HZ / 1000U)
#define LINE (PLATFORM_TIMEBASE_HZ / 200U) /* 5 ms */

unsigned int steady(const void *fdt)
{
    static struct work w;
    uint64_t next = machine_time();

    (void)fdt;
    if (!work_open(&w, 0, 0)) {
        return 1;
    }
    for (;;) {
        (void)work_run(&w, JOB);
        if (machine_time() >= next) {
            print("accel: %u jobs, %u wrong\n", w.jobs, w.wrong);
            next = machine_time() + LINE;
        }
        wait_until(machine_time() + PAUSE);
    }
}
