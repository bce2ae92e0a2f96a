/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a release takes: one app reads instret in the first instruction of each of its jobs. Beside it on the same
 * hart a best-effort VM watches instret for gaps (guests/test/bench with role=switch); the host pairs the app's figures with
 * the gap that each lies in. Every other slot that the VM has is an app's that is not released meanwhile.
 */
#include "machine.h"
#include "platform.h"
#include "print.h"
#include "rtm.h"
#include "timer.h"

#define SHOTS 200U
#define SHOTS_PERIOD_US 5000U
#define SHOTS_BUDGET_US 100U
#define SHOTS_IDLE_PERIOD_US 100000000U /* longer than all this takes */

void rtm_shots_entry(void);

/* For shots_entry.S: where the next figure goes, and where they end. */
extern volatile uint64_t *volatile rtm_shots_next;

static volatile uint64_t rtm_shots_taken[2 * SHOTS]; /* the app goes on a little until it is deleted */
static uint8_t rtm_shots_stack[64] __attribute__((aligned(16)));

volatile uint64_t *volatile rtm_shots_next = rtm_shots_taken;

static void rtm_shots_launch(unsigned long app, uint64_t first)
{
    struct sbi_ret ret = rt_launch_app(RT_OWN_VM, app, first);

    if (ret.error != SBI_SUCCESS) {
        print("BENCH failed: app %lu is not launched: %s\n", app, rt_strerror(HCALL_RT_LAUNCH_APP, ret));
        machine_shutdown(true);
    }
}

_Noreturn void rtm_shots(void)
{
    struct rt_params params = {.entry = hcall_address((const void *)(uintptr_t)rtm_shots_entry),
                               .stack = hcall_address(rtm_shots_stack) + sizeof(rtm_shots_stack),
                               .period_us = SHOTS_PERIOD_US,
                               .budget_us = SHOTS_BUDGET_US,
                               .deadline_us = SHOTS_PERIOD_US};
    const uint64_t far = machine_time() + (uint64_t)SHOTS_IDLE_PERIOD_US * (PLATFORM_TIMEBASE_HZ / 1000000);
    struct sbi_ret app = rt_create_app(&params);
    struct sbi_ret idle;

    params.period_us = params.deadline_us = SHOTS_IDLE_PERIOD_US;
    for (idle = rt_create_app(&params); idle.error == SBI_SUCCESS; idle = rt_create_app(&params)) {
        rtm_shots_launch((unsigned long)idle.value, far);
    }
    rtm_shots_launch((unsigned long)app.value, 0);
    while (rtm_shots_next < &rtm_shots_taken[SHOTS]) {
        timer_set(machine_time() + SHOTS * SHOTS_PERIOD_US * (PLATFORM_TIMEBASE_HZ / 1000000));
        machine_wait();
    }
    (void)rt_delete_app((unsigned long)app.value);
    for (unsigned int i = 0; i < SHOTS; i++) {
        print("SHOT %llu\n", (unsigned long long)rtm_shots_taken[i]);
    }
    print("BENCH done\n");
    machine_shutdown(false);
}
