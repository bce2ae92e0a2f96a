/* SPDX-License-Identifier: Apache-2.0 */
/* Sleeps until a time, on each architecture (timer_sleep_until() of timer.h). */
#include "machine.h"
#include "timer.h"

void timer_sleep_until(uint64_t time)
{
    timer_set(time);
    machine_wake_by_timer(true);
    while (machine_time() < time) {
        machine_wait();
    }
    machine_wake_by_timer(false);
}
