/* SPDX-License-Identifier: Apache-2.0 */
/* The function of testbed_queue.h for timers in a heap. */
#include "testbed.h"
#include "testbed_queue.h"

const char *testbed_timers_violation(const struct timers *timers)
{
    return heap_violation(timers->nodes, timers->count, TIMERS_MAX);
}
