/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the costs of timers in a heap (kind.h). Owns the heap. */
#include "../../../core/include/timer.h" /* the SDK has a timer.h, too */
#include "kind.h"

static struct heap_node *nodes[64];
static struct timers timers = {0, nodes};

#include "timers.h"

static void reset(void)
{
    timers.count = 0;
}

void rtqueue_measure_timers_heap(void)
{
    static const struct queue_measured heap = {"riscv.timers", "arm", "expire", 0,
                                               rtqueue_random, reset};

    queue_measure(&heap);
}
