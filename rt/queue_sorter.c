/* SPDX-License-Identifier: Apache-2.0 */
/* The queue in a sorter of the fabric. The caller holds sched_lock. */
#include "rt_queue.h"

#include "arch.h"
#include "fabric_map.h"

_Static_assert((RT_QUEUE_MAX & (RT_QUEUE_MAX - 1U)) == 0, "the mask of a value");
_Static_assert(RT_QUEUE_MAX *FABRIC_SORT_PUT_VALUE_STRIDE <= FABRIC_SORT_PUT_STRIDE, "values of a put");
_Static_assert(RT_QUEUE_ORDERS *FABRIC_SORT_PUT_ORDER_STRIDE == FABRIC_SORT_PUT_VALUE_STRIDE, "orders of a put");

void rt_queue_init(struct rt_queue *q, unsigned number)
{
    volatile char *fabric = rt_queue_fabric();

    q->count = 0;
    q->least = 0U - RT_QUEUE_ORDERS / 2U;
    q->registers = fabric + FABRIC_SORTERS + number * FABRIC_SORTER_STRIDE;
    q->puts = fabric + FABRIC_SORT_PUT + number * FABRIC_SORT_PUT_STRIDE;
    for (unsigned value = 0; value < RT_QUEUE_MAX; value++) {
        q->values[value] = (uint8_t)value;
    }
}

/* Tells the sorter the node's key and order, which replace those that its value had. */
static inline void put(struct rt_queue *q, const struct heap_node *node)
{
    unsigned order = node->order - q->least;

    if (UNLIKELY(order >= RT_QUEUE_ORDERS)) {
        arch_device_write64(q->registers + FABRIC_SORTER_ORDER, node->order);
        order = RT_QUEUE_ORDERS / 2U;
        q->least = node->order - order;
    }
    arch_device_write64(q->puts + (node->at - 1U) * FABRIC_SORT_PUT_VALUE_STRIDE +
                            (order ^ RT_QUEUE_ORDERS / 2U) * FABRIC_SORT_PUT_ORDER_STRIDE,
                        node->key);
}

/* The sorter's first node. No answer of the fabric leads outside of the array. */
static inline struct heap_node *least(const struct rt_queue *q)
{
    return q->nodes[arch_device_read64(q->registers + FABRIC_SORTER_HEAD) & (RT_QUEUE_MAX - 1U)];
}

void rt_queue_insert(struct rt_queue *q, struct heap_node *node)
{
    unsigned value = q->values[q->count];

    q->nodes[value] = node;
    node->at = value + 1U;
    put(q, node);
    if (q->count == 0 || heap_before(node, q->first)) {
        q->first = node;
    }
    q->count++;
}

void rt_queue_remove(struct rt_queue *q, struct heap_node *node)
{
    unsigned value = node->at - 1U;

    node->at = 0;
    q->count--;
    q->values[q->count] = (uint8_t)value;
    arch_device_write64(q->registers + FABRIC_SORTER_REMOVE, value);
    if (node == q->first && q->count != 0) {
        q->first = least(q);
    }
}

/* The new node takes the value of the old one. */
void rt_queue_replace_first(struct rt_queue *q, struct heap_node *node)
{
    node->at = q->first->at;
    q->first->at = 0;
    q->nodes[node->at - 1U] = node;
    put(q, node);
    q->first = q->count > 1U ? least(q) : node;
}

/* The sorter is told also of the only node's key: later nodes are compared with it there. */
void rt_queue_first_grew(struct rt_queue *q)
{
    put(q, q->first);
    if (q->count > 1U) {
        q->first = least(q);
    }
}
