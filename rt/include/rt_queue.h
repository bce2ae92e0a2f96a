/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A priority queue: smallest key first, first in first out among equal keys. A board chooses one implementation at link
 * time: queue_heap.c in software, later the hardware sorter. A node stores its position, so that any node can be removed.
 */
#ifndef RT_QUEUE_H
#define RT_QUEUE_H

#include "heap.h"
#include "sysimage.h"
#include "types.h"

#define RT_QUEUE_MAX SYSIMAGE_MAX_RT_APPS

struct rt_queue {
    unsigned count;
    struct heap_node *nodes[RT_QUEUE_MAX];
};

/* Inserts a node that is in no queue. At most RT_QUEUE_MAX nodes; O(log n). */
void rt_queue_insert(struct rt_queue *q, struct heap_node *node);

/* Removes a node from its queue; O(log n). */
void rt_queue_remove(struct rt_queue *q, struct heap_node *node);

/* Replaces the first node by one that is in no queue and not before it in the order; O(log n). */
void rt_queue_replace_first(struct rt_queue *q, struct heap_node *node);

/* Restores the order after the first node's key has grown; O(log n). */
void rt_queue_first_grew(struct rt_queue *q);

/* The first node, or NULL. */
static inline struct heap_node *rt_queue_first(const struct rt_queue *q)
{
    return q->count == 0 ? NULL : q->nodes[0];
}

#endif
