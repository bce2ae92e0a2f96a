/* SPDX-License-Identifier: Apache-2.0 */
/* The queue of rt_queue.h as a binary heap, the part out of line. Its owner, sched_edf.c, holds
 * sched_lock. */
#include "rt_queue.h"

const char *rt_queues_boot(void)
{
    return NULL;
}

void rt_queue_insert(struct rt_queue *q, struct heap_node *node)
{
    heap_sift_up(q->nodes, q->count++, node);
}

void rt_queue_remove(struct rt_queue *q, struct heap_node *node)
{
    heap_remove(q->nodes, --q->count, node);
}

void rt_queue_replace_first(struct rt_queue *q, struct heap_node *node)
{
    q->nodes[0]->at = 0;
    heap_sift_down(q->nodes, q->count, 0, node);
}

void rt_queue_sift_first(struct rt_queue *q)
{
    heap_sift_down(q->nodes, q->count, 0, q->nodes[0]);
}
