/* SPDX-License-Identifier: Apache-2.0 */
/* Mode `harts` (modes.h): jobs on all VCPUs of the VM at once. Owns the work of each VCPU. */
#include <stdbool.h>
#include <stddef.h>

#include "fdt.h"
#include "machine.h"
#include "modes.h"
#include "print.h"
#include "sbi.h"
#include "trap.h"
#include "work.h"

#define MAX_VCPUS 2U
/* bytes: most of the time goes into the registers, so that regions change hands often */
#define JOB 16U

static struct work works[MAX_VCPUS];
static volatile bool over[MAX_VCPUS];
static unsigned int wanted; /* jobs */

static void work_on(unsigned long hart, void *argument)
{
    struct work *w = argument;

    if (!work_open(w, (unsigned int)hart, hart)) {
        w->wrong = 1;
    }
    while (w->jobs < wanted && w->wrong == 0) {
        (void)work_run(w, JOB);
    }
    over[hart] = true;
}

static void start_others(unsigned int vcpus)
{
    static uint8_t stacks[MAX_VCPUS][4096] __attribute__((aligned(16)));
    static struct hart_boot boots[MAX_VCPUS];

    for (unsigned int i = 1; i < vcpus; i++) {
        boots[i] = (struct hart_boot){stacks[i] + sizeof(stacks[i]), work_on, &works[i]};
        (void)sbi_hart_start(i, (uintptr_t)hart_entry, (uintptr_t)&boots[i]);
    }
}

unsigned int harts(const void *fdt)
{
    unsigned int vcpus = (unsigned int)fdt_bootarg_number(fdt, "vcpus", 1), jobs = 0, wrong = 0;

    wanted = (unsigned int)fdt_bootarg_number(fdt, "jobs", 100);
    start_others(vcpus);
    work_on(0, &works[0]);
    for (unsigned int i = 0; i < vcpus; i++) {
        while (!over[i]) {
            wait_until(machine_time() + PLATFORM_TIMEBASE_HZ / 10000U);
        }
        jobs += works[i].jobs;
        wrong += works[i].wrong;
    }
    print("accel: done, %u jobs, %u wrong\n", jobs, wrong);
    return wrong;
}
