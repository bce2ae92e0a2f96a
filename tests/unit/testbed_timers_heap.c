/* SPDX-License-Identifier: Apache-2.0 */
#include "testbed.h"
#include "testbed_queue.h"

const char *testbed_timers_violation(const struct timers *timers)
{
    return heap_violation(timers->nodes, timers->count, TIMERS_MAX);
}
