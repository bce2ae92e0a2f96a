/* SPDX-License-Identifier: Apache-2.0 */
/* rt/queue_heap.c, the same source as in the hypervisor. */
#define rt_queue_insert heap_insert
#define rt_queue_remove heap_remove_node
#define rt_queue_replace_first heap_replace_first
#define rt_queue_sift_first heap_sink_first
#include "../../../rt/queue_heap.c"

#include "kind.h"

static struct rt_queue queue;
static struct heap_node nodes[RT_QUEUE_MAX];

static void reset(void)
{
    rt_queue_init(&queue, 0, 0);
}

#include "kind_body.h"

const struct rtqueue_kind rtqueue_heap = {
    "heap", reset, node_first, node_insert, node_remove, node_grow, node_replace,
};
