/* SPDX-License-Identifier: Apache-2.0 */
/* A CPU's timers in a sorter of the fabric (HYP_TIMERS=sorter), for timer.c: of each CPU's sorters,
 * the last one. timers_sorter.c owns them. */
#ifndef TIMERS_SORTER_H
#define TIMERS_SORTER_H

#include "sorter.h"

struct timers {
    struct sorter *sorter; /* constant after boot; the queue is guarded by sched_lock */
};

/* A sorter may have fewer entries than the system has timers: they are counted. */
void timers_register(void);
const char *timers_boot(void);

static inline struct heap_node *timers_head(const struct timers *timers)
{
    return timers->sorter->first;
}

static inline void timers_insert(struct timers *timers, struct heap_node *node)
{
    sorter_insert(timers->sorter, node);
}

static inline void timers_remove(struct timers *timers, struct heap_node *node)
{
    sorter_remove(timers->sorter, node);
}

static inline unsigned timers_count(const struct timers *timers)
{
    return timers->sorter->count;
}

#endif
