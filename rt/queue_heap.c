/* SPDX-License-Identifier: Apache-2.0 */
/* The queue as a binary heap of pointers. */
#include "rt_queue.h"

static inline void put(struct rt_queue *q, unsigned place, struct rt_node *node)
{
    q->nodes[place] = node;
    node->at = place + 1;
}

/* `node` belongs at `place` or above: those above that come after it move down. */
static void sift_up(struct rt_queue *q, unsigned place, struct rt_node *node)
{
    while (place > 0 && rt_node_before(node, q->nodes[(place - 1) / 2])) {
        put(q, place, q->nodes[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    put(q, place, node);
}

/* `node` belongs at `place` or below. */
static void sift_down(struct rt_queue *q, unsigned place, struct rt_node *node)
{
    for (unsigned child = 2 * place + 1; child < q->count; child = 2 * place + 1) {
        if (child + 1 < q->count && rt_node_before(q->nodes[child + 1], q->nodes[child])) {
            child++;
        }
        if (!rt_node_before(q->nodes[child], node)) {
            break;
        }
        put(q, place, q->nodes[child]);
        place = child;
    }
    put(q, place, node);
}

void rt_queue_insert(struct rt_queue *q, struct rt_node *node)
{
    sift_up(q, q->count++, node);
}

void rt_queue_remove(struct rt_queue *q, struct rt_node *node)
{
    unsigned place = node->at - 1;
    struct rt_node *last = q->nodes[--q->count];

    node->at = 0;
    if (last == node) {
        return;
    }
    if (place > 0 && rt_node_before(last, q->nodes[(place - 1) / 2])) {
        sift_up(q, place, last);
    } else {
        sift_down(q, place, last);
    }
}

void rt_queue_replace_first(struct rt_queue *q, struct rt_node *node)
{
    q->nodes[0]->at = 0;
    sift_down(q, 0, node);
}

void rt_queue_first_grew(struct rt_queue *q)
{
    sift_down(q, 0, q->nodes[0]);
}
