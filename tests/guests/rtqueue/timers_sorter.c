/* SPDX-License-Identifier: Apache-2.0 */
/* In the fabric's first sorter. */
#define TIMERS_SORTER
#define SORTERS_A_CPU 4U
#include "../../../core/include/timer.h" /* the SDK has a timer.h, too */
#include "kind.h"

static struct sorter sorter;
static struct timers timers = {&sorter};

#include "timers.h"

static void reset(void)
{
    while (timers_count(&timers) != 0) {
        timers_remove(&timers, timers_head(&timers));
    }
}

void rtqueue_measure_timers_sorter(void)
{
    static const struct queue_measured kind = {"riscv.timers.sorter", "arm", "expire", 0,
                                               rtqueue_random,        reset};

    sorter_init(&sorter, 0, 0);
    queue_measure(&kind);
}
