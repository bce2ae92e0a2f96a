/* SPDX-License-Identifier: Apache-2.0 */
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
