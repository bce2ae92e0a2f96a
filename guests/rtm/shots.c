/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a release takes: one app reads instret in the first instruction of each of its jobs. Beside it on the same
 * hart a best-effort VM watches instret for gaps (guests/bench with role=switch); the host pairs the app's figures with
 * the gap that each lies in.
 */
#include "csr.h"
#include "platform.h"
#include "print.h"
#include "rtm.h"
#include "timer.h"

#define SHOTS 200U
#define SHOTS_PERIOD_US 5000U
#define SHOTS_BUDGET_US 100U

void rtm_shots_entry(void);

/* For shots_entry.S: where the next figure goes, and where they end. */
extern volatile uint64_t *volatile rtm_shots_next;

static volatile uint64_t rtm_shots_taken[2 * SHOTS]; /* the app goes on a little until it is deleted */
static uint8_t rtm_shots_stack[64] __attribute__((aligned(16)));

volatile uint64_t *volatile rtm_shots_next = rtm_shots_taken;

_Noreturn void rtm_shots(void)
{
    const struct rt_params params = {.entry = (uintptr_t)rtm_shots_entry,
                                     .stack = (uintptr_t)rtm_shots_stack + sizeof(rtm_shots_stack),
                                     .period_us = SHOTS_PERIOD_US,
                                     .budget_us = SHOTS_BUDGET_US,
                                     .deadline_us = SHOTS_PERIOD_US};
    struct sbi_ret app = rt_create_app(&params);
    struct sbi_ret ret = rt_launch_app(RT_OWN_VM, (unsigned long)app.value, 0);

    if (app.error != SBI_SUCCESS || ret.error != SBI_SUCCESS) {
        print("BENCH failed: no app: errors %ld and %ld\n", app.error, ret.error);
        sbi_shutdown(SBI_RESET_SYSTEM_FAILURE);
    }
    while (rtm_shots_next < &rtm_shots_taken[SHOTS]) {
        timer_set(csr_read_time() + SHOTS * SHOTS_PERIOD_US * (PLATFORM_TIMEBASE_HZ / 1000000));
        csr_wait_for_interrupt();
    }
    (void)rt_delete_app((unsigned long)app.value);
    for (unsigned int i = 0; i < SHOTS; i++) {
        print("SHOT %lu\n", rtm_shots_taken[i]);
    }
    print("BENCH done\n");
    sbi_shutdown(SBI_RESET_NO_REASON);
}
