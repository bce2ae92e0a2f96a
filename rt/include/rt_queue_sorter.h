/* SPDX-License-Identifier: Apache-2.0 */
/* The queue of rt_queue.h in a sorter of the fabric (HYP_RT_QUEUE=sorter): of each CPU, the first
 * two. core/sorter.c has the operations, queue_sorter.c takes the sorters at boot. */
#ifndef RT_QUEUE_SORTER_H
#define RT_QUEUE_SORTER_H

#include "sorter.h"

#define RT_QUEUE_SORTERS 2U /* of each CPU */

/* Guarded by sched_lock. */
struct rt_queue {
    struct sorter sorter;
};

static inline void rt_queue_init(struct rt_queue *q, unsigned cpu, unsigned number)
{
    sorter_init(&q->sorter, cpu, number);
}

static inline unsigned rt_queue_count(const struct rt_queue *q)
{
    return q->sorter.count;
}

static inline struct heap_node *rt_queue_head(const struct rt_queue *q)
{
    return q->sorter.first;
}

static inline void rt_queue_insert(struct rt_queue *q, struct heap_node *node)
{
    sorter_insert(&q->sorter, node);
}

static inline void rt_queue_remove(struct rt_queue *q, struct heap_node *node)
{
    sorter_remove(&q->sorter, node);
}

static inline void rt_queue_replace_first(struct rt_queue *q, struct heap_node *node)
{
    sorter_replace_first(&q->sorter, node);
}

static inline void rt_queue_first_grew(struct rt_queue *q)
{
    sorter_first_grew(&q->sorter);
}

#endif
