/* SPDX-License-Identifier: Apache-2.0 */
/* core/sorter.c, the same source as in the hypervisor, in the last of the fabric's sorters. */
#define RT_QUEUE_SORTER
#define SORTERS_A_CPU 4U
#include "rt_queue.h"

/* Called, as by the hypervisor, where they are in another file. */
__attribute__((noinline)) void sorter_insert(struct sorter *s, struct heap_node *node);
__attribute__((noinline)) void sorter_remove(struct sorter *s, struct heap_node *node);

#include "../../../core/sorter.c"

#include "kind.h"

#define FABRIC 0x18000000UL
#define SORTER 3U /* of the fabric's SORTERS_A_CPU */

static struct rt_queue queue;
static struct heap_node nodes[RT_QUEUE_MAX];

volatile char *sorter_fabric(void)
{
    return (volatile char *)FABRIC;
}

static void reset(void)
{
    rt_queue_init(&queue, 0, SORTER);
    for (unsigned value = 0; value < RT_QUEUE_MAX; value++) {
        arch_device_write64(queue.sorter.registers + FABRIC_SORTER_REMOVE, value);
    }
    arch_device_write64(queue.sorter.registers + FABRIC_SORTER_ORDER, 0);
}

#include "kind_body.h"

const struct rtqueue_kind rtqueue_sorter = {
    "sorter", reset, node_first, node_insert, node_remove, node_grow, node_replace,
};

static inline void measured_insert(struct heap_node *node)
{
    rt_queue_insert(&queue, node);
}

static inline void measured_take(void)
{
    rt_queue_remove(&queue, rt_queue_first(&queue));
}

#include "queue_measure.h"

/* As the bench guest does for the heap (tests/guests/bench/queue.c). */
void rtqueue_measure(void)
{
    static const struct queue_measured sorter = {"riscv.rt.queue.sorter", "insert", "take", 1,
                                                 rtqueue_random,          reset};

    queue_measure(&sorter);
}
