/* SPDX-License-Identifier: Apache-2.0 */
/* The function of testbed_queue.h for timers in a sorter. */
#include "testbed_queue.h"
#include "testbed_sorter.h"

const char *testbed_timers_violation(const struct timers *timers)
{
    return testbed_sorter_violation(timers->sorter);
}
