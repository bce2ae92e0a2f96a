/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of testbed_queue.h for a queue of the real-time class in a heap. */
#include "testbed.h"
#include "testbed_queue.h"

void testbed_queue_init(struct rt_queue *q)
{
    rt_queue_init(q, 0, 0);
}

bool testbed_queue_has(const struct rt_queue *q, const struct heap_node *node)
{
    return node->at != 0 && node->at <= q->count && q->nodes[node->at - 1] == node;
}

const char *testbed_queue_violation(const struct rt_queue *q)
{
    return heap_violation(q->nodes, q->count, RT_QUEUE_MAX);
}
