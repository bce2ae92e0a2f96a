/* SPDX-License-Identifier: Apache-2.0 */
/* A priority queue in a sorter of the fabric, for timers and ready queues of boards that have one.
 * A queue is guarded by sched_lock; a key's value in the hardware names its node. */
#include "sorter.h"

#include "arch.h"
#include "fabric_map.h"

_Static_assert((SORTER_NODES & (SORTER_NODES - 1U)) == 0, "the mask of a value");
_Static_assert(SORTER_NODES *FABRIC_SORT_PUT_VALUE_STRIDE <= FABRIC_SORT_PUT_STRIDE,
               "values of a put");
_Static_assert(SORTER_ORDERS *FABRIC_SORT_PUT_ORDER_STRIDE == FABRIC_SORT_PUT_VALUE_STRIDE,
               "orders of a put");

void sorter_init(struct sorter *s, unsigned cpu, unsigned number)
{
    volatile char *fabric = sorter_fabric();
    unsigned index = cpu * SORTERS_A_CPU + number;

    s->count = 0;
    s->least = 0U - SORTER_ORDERS / 2U;
    s->registers = fabric + FABRIC_SORTERS + index * FABRIC_SORTER_STRIDE;
    s->puts = fabric + FABRIC_SORT_PUT + index * FABRIC_SORT_PUT_STRIDE;
    for (unsigned value = 0; value < SORTER_NODES; value++) {
        s->values[value] = (uint8_t)value;
    }
}

/* Tells the sorter the node's key and order, which replace those that its value had. */
static inline void put(struct sorter *s, const struct heap_node *node)
{
    unsigned order = node->order - s->least;

    if (order >= SORTER_ORDERS) {
        arch_device_write64(s->registers + FABRIC_SORTER_ORDER, node->order);
        order = SORTER_ORDERS / 2U;
        s->least = node->order - order;
    }
    arch_device_write64(s->puts + (node->at - 1U) * FABRIC_SORT_PUT_VALUE_STRIDE +
                            (order ^ SORTER_ORDERS / 2U) * FABRIC_SORT_PUT_ORDER_STRIDE,
                        node->key);
}

/* The sorter's first node. No answer of the fabric leads outside of the array. */
static inline struct heap_node *least(const struct sorter *s)
{
    return s->nodes[arch_device_read64(s->registers + FABRIC_SORTER_HEAD) & (SORTER_NODES - 1U)];
}

void sorter_insert(struct sorter *s, struct heap_node *node)
{
    unsigned value = s->values[s->count];

    s->nodes[value] = node;
    node->at = value + 1U;
    put(s, node);
    if (s->count == 0 || heap_before(node, s->first)) {
        s->first = node;
    }
    s->count++;
}

void sorter_remove(struct sorter *s, struct heap_node *node)
{
    unsigned value = node->at - 1U;

    node->at = 0;
    s->count--;
    s->values[s->count] = (uint8_t)value;
    arch_device_write64(s->registers + FABRIC_SORTER_REMOVE, value);
    if (node == s->first && s->count != 0) {
        s->first = least(s);
    }
}

/* The new node takes the value of the old one. */
void sorter_replace_first(struct sorter *s, struct heap_node *node)
{
    node->at = s->first->at;
    s->first->at = 0;
    s->nodes[node->at - 1U] = node;
    put(s, node);
    s->first = s->count > 1U ? least(s) : node;
}

/* The sorter gets the key of an only node, too: it compares later nodes with that key. */
void sorter_first_grew(struct sorter *s)
{
    put(s, s->first);
    if (s->count > 1U) {
        s->first = least(s);
    }
}
