/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Latency of a release: one app reads instret in the first instruction of each job. On the same
 * hart a best-effort VM watches instret for gaps (tests/guests/bench with role=switch), and the
 * host pairs each value of the app with the gap that contains it. All other slots of the VM hold
 * launched apps that are not released during the measurement.
 */
#include "machine.h"
#include "platform.h"
#include "print.h"
#include "rtm.h"
#include "timer.h"

#define LATENCY_SAMPLES 200U
#define LATENCY_PERIOD_US 5000U
#define LATENCY_BUDGET_US 100U
#define LATENCY_IDLE_PERIOD_US 100000000U /* longer than the measurement */

void rtm_latency_entry(void);

/* For latency_entry.S: where the next value is stored. */
extern volatile uint64_t *volatile rtm_latency_next;

/* the app keeps running until it is deleted */
static volatile uint64_t rtm_latency_taken[2 * LATENCY_SAMPLES];
static uint8_t rtm_latency_stack[64] __attribute__((aligned(16)));

volatile uint64_t *volatile rtm_latency_next = rtm_latency_taken;

static void rtm_latency_launch(unsigned long app, uint64_t first)
{
    struct hcall_ret ret = rt_launch_app(RT_OWN_VM, app, first);

    if (ret.error != HCALL_OK) {
        print("BENCH failed: app %lu is not launched: %s\n", app,
              rt_strerror(HCALL_RT_LAUNCH_APP, ret));
        machine_shutdown(true);
    }
}

_Noreturn void rtm_latency(void)
{
    struct rt_params params = {.entry = hcall_address((const void *)(uintptr_t)rtm_latency_entry),
                               .stack =
                                   hcall_address(rtm_latency_stack) + sizeof(rtm_latency_stack),
                               .period_us = LATENCY_PERIOD_US,
                               .budget_us = LATENCY_BUDGET_US,
                               .deadline_us = LATENCY_PERIOD_US};
    const uint64_t far =
        machine_time() + (uint64_t)LATENCY_IDLE_PERIOD_US * (PLATFORM_TIMEBASE_HZ / 1000000);
    struct hcall_ret app = rt_create_app(&params);
    struct hcall_ret idle;

    params.period_us = LATENCY_IDLE_PERIOD_US;
    params.deadline_us = LATENCY_IDLE_PERIOD_US;
    for (idle = rt_create_app(&params); idle.error == HCALL_OK; idle = rt_create_app(&params)) {
        rtm_latency_launch(idle.value, far);
    }
    rtm_latency_launch(app.value, 0);
    while (rtm_latency_next < &rtm_latency_taken[LATENCY_SAMPLES]) {
        timer_set(machine_time() +
                  LATENCY_SAMPLES * LATENCY_PERIOD_US * (PLATFORM_TIMEBASE_HZ / 1000000));
        machine_wait();
    }
    (void)rt_delete_app(app.value);
    for (unsigned int i = 0; i < LATENCY_SAMPLES; i++) {
        print("SAMPLE %llu\n", (unsigned long long)rtm_latency_taken[i]);
    }
    print("BENCH done\n");
    machine_shutdown(false);
}
