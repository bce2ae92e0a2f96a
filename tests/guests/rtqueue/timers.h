/* SPDX-License-Identifier: Apache-2.0 */
/* The costs of `timers`, the hypervisor's timers of the kind that the including file chooses. */
static inline void measured_insert(struct heap_node *node)
{
    timers_insert(&timers, node);
}

static inline void measured_take(void)
{
    timers_remove(&timers, timers_head(&timers));
}

#include "queue_measure.h"
