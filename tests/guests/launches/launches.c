/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cost that launches of real-time apps cause to another VM's app on the same hart
 * (tests/e2e/test_launches.py). Boot argument role=:
 *
 *   victim     an app on hart 0 whose jobs all execute the same instructions; reports the number of
 *              instructions of the hart from the first to the last one of a job:
 *              launches: 10 jobs, 400015 to 400015 instructions
 *   attacker   in phases of TURN_MS: rests; launches and deletes apps on hart 0 whose first
 *              releases are
 *              much later; rests; launches and deletes apps whose releases precede all others on
 *              the
 *              hart. With only=far or only=soon only one kind. Reports after each phase:
 *              launches: far: 180 launched
 */
#include <stdbool.h>
#include <string.h>

#include "fdt.h"
#include "machine.h"
#include "platform.h"
#include "print.h"
#include "rt.h"
#include "timer.h"
#include "uart.h"

#define TICKS_PER_US (PLATFORM_TIMEBASE_HZ / 1000000U)
#define TICKS_PER_MS (PLATFORM_TIMEBASE_HZ / 1000U)

int main(unsigned long hart, const void *fdt);

static uint8_t stack[2048] __attribute__((aligned(16)));
static struct rt_task task;

static struct rt_params params_of(uint32_t period_us, uint32_t budget_us)
{
    return (struct rt_params){.entry = hcall_address((const void *)(uintptr_t)rt_task_entry),
                              .stack = hcall_address(stack) + sizeof(stack),
                              .arg = (uintptr_t)&task,
                              .period_us = period_us,
                              .budget_us = budget_us,
                              .deadline_us = period_us,
                              .cpu = 0};
}

/* --- victim --- */

#define VICTIM_PERIOD_US 5000U
#define VICTIM_BUDGET_US 4000U
#define VICTIM_JOB 400000U /* instructions */
#define VICTIM_JOBS 10U    /* per line */

static volatile struct {
    unsigned long jobs, min, max;
} taken; /* owner: the app; the manager resets it after a report */

static void job(void *argument)
{
    unsigned long begin = machine_instructions(), took;

    (void)argument;
    machine_burn(VICTIM_JOB);
    took = machine_instructions() - begin;
    taken.min = taken.jobs == 0 || took < taken.min ? took : taken.min;
    taken.max = taken.jobs == 0 || took > taken.max ? took : taken.max;
    taken.jobs++;
}

static _Noreturn void victim(void)
{
    struct rt_params params = params_of(VICTIM_PERIOD_US, VICTIM_BUDGET_US);

    task.job = job;
    if (rt_create_app(&params).error != 0 || rt_launch_app(RT_OWN_VM, 0, 0).error != 0) {
        print("launches: the app is not launched\n");
    }
    for (;;) {
        timer_set(machine_time() + TICKS_PER_MS);
        machine_wait();
        if (taken.jobs >= VICTIM_JOBS) {
            print("launches: %lu jobs, %lu to %lu instructions\n", taken.jobs, taken.min,
                  taken.max);
            taken.jobs = 0;
        }
    }
}

/* --- attacker --- */

#define APPS 60U
#define TURN_MS 40U
#define APP_PERIOD_US 100000000U
#define FAR (1000U * TICKS_PER_MS)
/* Before the victim's next release, if launched during its job, but after the app's deletion. */
#define SOON (4U * TICKS_PER_MS)

/* A kind of launches: number of apps at a time, and ticks from the launch to the first release. */
struct manner {
    const char *name;
    unsigned long apps;
    uint64_t ahead;
};

static void rest(void)
{
    timer_set(machine_time() + TURN_MS * TICKS_PER_MS);
    machine_wait();
}

/*
 * Launches and deletes apps repeatedly; each first release is earlier than that of the previous
 * app.
 */
static void launch(const struct manner *how)
{
    struct rt_params params = params_of(APP_PERIOD_US, 1);
    uint64_t end = machine_time() + TURN_MS * TICKS_PER_MS;
    unsigned long launched = 0;

    while (machine_time() < end) {
        uint64_t first = machine_time() + how->ahead;

        for (unsigned long n = 0; n < how->apps; n++) {
            (void)rt_create_app(&params);
        }
        for (unsigned long n = 0; n < how->apps; n++) {
            launched += rt_launch_app(RT_OWN_VM, n, first - n).error == 0;
        }
        for (unsigned long n = 0; n < how->apps; n++) {
            (void)rt_delete_app(n);
        }
    }
    print("launches: %s: %lu launched\n", how->name, launched);
}

static _Noreturn void attacker(const char *only)
{
    static const struct manner manners[] = {
        {"far", APPS, FAR},
        {"soon", 8, SOON},
    };

    for (;;) {
        for (size_t i = 0; i < sizeof(manners) / sizeof(manners[0]); i++) {
            rest();
            print("launches: rested\n");
            if (*only == '\0' || strcmp(only, manners[i].name) == 0) {
                launch(&manners[i]);
            }
        }
    }
}

int main(unsigned long hart, const void *fdt)
{
    char role[16] = "", only[16] = "";

    (void)hart;
    uart_init();
    (void)timer_init();
    machine_wake_by_timer(true);
    (void)fdt_bootarg(fdt, "role", role, sizeof(role));
    (void)fdt_bootarg(fdt, "only", only, sizeof(only));
    print("launches: %s\n", role);
    if (strcmp(role, "victim") == 0) {
        victim();
    }
    attacker(only);
}
