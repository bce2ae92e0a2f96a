/* SPDX-License-Identifier: Apache-2.0 */
/* Mode `refused` (modes.h): jobs on the VM's second device after a request for its first one, which
 * may have failed. */
#include "machine.h"
#include "modes.h"
#include "print.h"
#include "work.h"

#define JOB 64U /* bytes */
#define JOBS 3U
#define TRIES 1000U
#define PAUSE (PLATFORM_TIMEBASE_HZ / 10000U)

/* The device's status once it is not waiting any more. */
static unsigned long status_after(const struct accel *a)
{
    unsigned long status = accel_request(a).value;

    for (unsigned int i = 0; i < TRIES && (status & ACCEL_STATUS_WAITING) != 0; i++) {
        wait_until(machine_time() + PAUSE);
        status = accel_status(a).value;
    }
    return status;
}

unsigned int refused(const void *fdt)
{
    static struct work works[2];
    unsigned long status;

    (void)fdt;
    if (!work_open(&works[0], 0, 0) || !work_open(&works[1], 1, 0)) {
        return 1;
    }
    status = status_after(&works[0].a);
    print("accel: the first device %s\n",
          (status & ACCEL_STATUS_FAILED) != 0 ? "has failed" : "works");
    for (unsigned int i = 0; i < JOBS; i++) {
        (void)work_run(&works[1], JOB);
    }
    print("accel: done, %u jobs, %u wrong\n", works[1].jobs, works[1].wrong);
    return works[1].wrong;
}
