/* SPDX-License-Identifier: Apache-2.0 */
/* A CPU's timers in a binary heap (HYP_TIMERS=heap), for timer.c. timers_heap.c owns the arrays of
 * the heaps. */
#ifndef TIMERS_HEAP_H
#define TIMERS_HEAP_H

/* Guarded by sched_lock. */
struct timers {
    unsigned count;           /* of armed timers */
    struct heap_node **nodes; /* a heap (heap.h) of at most TIMERS_MAX */
};

/* Every heap has room for TIMERS_MAX, so that their number matters to none. */
static inline void timers_register(void)
{
}

static inline const char *timers_boot(void)
{
    return NULL;
}

static inline struct heap_node *timers_head(const struct timers *timers)
{
    return timers->nodes[0];
}

static inline void timers_insert(struct timers *timers, struct heap_node *node)
{
    heap_sift_up(timers->nodes, timers->count++, node);
}

static inline void timers_remove(struct timers *timers, struct heap_node *node)
{
    heap_remove(timers->nodes, --timers->count, node);
}

static inline unsigned timers_count(const struct timers *timers)
{
    return timers->count;
}

#endif
