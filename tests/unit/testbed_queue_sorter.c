/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of testbed_queue.h for a queue of the real-time class in a sorter. */
#include "testbed_queue.h"
#include "testbed_sorter.h"

void testbed_queue_init(struct rt_queue *q)
{
    testbed_fabric_reset();
    testbed_sorters_clear();
    rt_queue_init(q, 0, 0);
}

bool testbed_queue_has(const struct rt_queue *q, const struct heap_node *node)
{
    return node->at != 0 && node->at <= SORTER_NODES && q->sorter.nodes[node->at - 1] == node;
}

const char *testbed_queue_violation(const struct rt_queue *q)
{
    return testbed_sorter_violation(&q->sorter);
}
