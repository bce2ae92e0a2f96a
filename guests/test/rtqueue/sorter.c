/* SPDX-License-Identifier: Apache-2.0 */
/* rt/queue_sorter.c, the same source as in the hypervisor, in the last of the fabric's sorters. */
#define RT_QUEUE_SORTER
#define rt_queue_init sorter_init
#define rt_queue_insert sorter_insert
#define rt_queue_remove sorter_remove
#define rt_queue_replace_first sorter_replace_first
#define rt_queue_first_grew sorter_first_grew
#include "rt_queue.h"

/* Called, as by the hypervisor, where they are in another file. */
__attribute__((noinline)) void rt_queue_insert(struct rt_queue *q, struct heap_node *node);
__attribute__((noinline)) void rt_queue_remove(struct rt_queue *q, struct heap_node *node);

#include "../../../rt/queue_sorter.c"

#include "kind.h"
#include "queue_measure.h"

#define FABRIC 0x18000000UL
#define SORTER 3U

static struct rt_queue queue;
static struct heap_node nodes[RT_QUEUE_MAX];

volatile char *rt_queue_fabric(void)
{
    return (volatile char *)FABRIC;
}

static void reset(void)
{
    rt_queue_init(&queue, SORTER);
    for (unsigned value = 0; value < RT_QUEUE_MAX; value++) {
        arch_device_write64(queue.registers + FABRIC_SORTER_REMOVE, value);
    }
    arch_device_write64(queue.registers + FABRIC_SORTER_ORDER, 0);
}

#include "kind_body.h"

const struct rtqueue_kind rtqueue_sorter = {
    "sorter", reset, node_first, node_insert, node_remove, node_grow, node_replace,
};

/* As the bench guest does for the heap (guests/test/bench/queue.c). */
void rtqueue_measure(void)
{
    static const struct queue_measured sorter = {"riscv.rt.queue.sorter", &queue, nodes, rtqueue_random, reset};

    queue_measure(&sorter);
}
