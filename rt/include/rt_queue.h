/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A priority queue: smallest key first, by the order among equal keys. The build chooses one
 * implementation (HYP_RT_QUEUE): queue_heap.c in software, rt_queue_sorter.h with the fabric's
 * sorters. A node knows its place, so that any node can be removed. Orders of nodes with equal keys
 * are distinct, and lie within 2^31 of each other.
 */
#ifndef RT_QUEUE_H
#define RT_QUEUE_H

#include "heap.h"
#include "sysimage.h"
#include "types.h"

#define RT_QUEUE_MAX SYSIMAGE_MAX_RT_APPS

/*
 * The implementation's header has struct rt_queue, and these functions:
 *
 *   void rt_queue_init(struct rt_queue *q, unsigned cpu, unsigned number)
 *       Makes an empty queue; each of a CPU has another number.
 *
 *   unsigned rt_queue_count(const struct rt_queue *q)
 *       The number of its nodes.
 *
 *   struct heap_node *rt_queue_head(const struct rt_queue *q)
 *       The first node of a queue that is not empty.
 *
 *   void rt_queue_insert(struct rt_queue *q, struct heap_node *node)
 *       Inserts a node that is in no queue. At most RT_QUEUE_MAX nodes.
 *
 *   void rt_queue_remove(struct rt_queue *q, struct heap_node *node)
 *       Removes a node from its queue.
 *
 *   void rt_queue_replace_first(struct rt_queue *q, struct heap_node *node)
 *       Replaces the first node by one that is in no queue and not before it in the order.
 *
 *   void rt_queue_first_grew(struct rt_queue *q)
 *       Restores the order after the first node's key has grown. Called for every such change, also
 *       of the only node.
 */
#ifdef RT_QUEUE_SORTER
#include "rt_queue_sorter.h"
#else
#include "rt_queue_heap.h"
#endif

/* The first node, or NULL. */
static inline struct heap_node *rt_queue_first(const struct rt_queue *q)
{
    return rt_queue_count(q) == 0 ? NULL : rt_queue_head(q);
}

/* At boot: takes what all queues need. NULL, or what failed. */
const char *rt_queues_boot(void);

#endif
