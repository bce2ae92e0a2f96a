/* SPDX-License-Identifier: Apache-2.0 */
/* The queue of rt_queue.h as a binary heap (HYP_RT_QUEUE=heap); queue_heap.c has the part out of
 * line. Insertion, removal and a change of the first key take O(log n). */
#ifndef RT_QUEUE_HEAP_H
#define RT_QUEUE_HEAP_H

/* Guarded by sched_lock. */
struct rt_queue {
    unsigned count;                        /* of nodes */
    struct heap_node *nodes[RT_QUEUE_MAX]; /* a heap (heap.h) */
};

static inline void rt_queue_init(struct rt_queue *q, unsigned cpu, unsigned number)
{
    (void)cpu, (void)number;
    q->count = 0;
}

static inline unsigned rt_queue_count(const struct rt_queue *q)
{
    return q->count;
}

static inline struct heap_node *rt_queue_head(const struct rt_queue *q)
{
    return q->nodes[0];
}

void rt_queue_insert(struct rt_queue *q, struct heap_node *node);
void rt_queue_remove(struct rt_queue *q, struct heap_node *node);
void rt_queue_replace_first(struct rt_queue *q, struct heap_node *node);

/* Moves the first node, of at least two. */
void rt_queue_sift_first(struct rt_queue *q);

static inline void rt_queue_first_grew(struct rt_queue *q)
{
    if (q->count > 1) {
        rt_queue_sift_first(q);
    }
}

#endif
