/* SPDX-License-Identifier: Apache-2.0 */
/* The binary heap of heap.h, for timers and ready queues. The owner of a heap holds its lock;
 * sifting takes O(log n) steps. */
#include "heap.h"

static inline void put(struct heap_node **nodes, size_t place, struct heap_node *node)
{
    nodes[place] = node;
    node->at = (unsigned)place + 1;
}

void heap_sift_up(struct heap_node **nodes, size_t place, struct heap_node *node)
{
    while (place > 0 && heap_before(node, nodes[(place - 1) / 2])) {
        put(nodes, place, nodes[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    put(nodes, place, node);
}

void heap_sift_down(struct heap_node **nodes, size_t count, size_t place, struct heap_node *node)
{
    for (size_t child = 2 * place + 1; child < count; child = 2 * place + 1) {
        if (child + 1 < count && heap_before(nodes[child + 1], nodes[child])) {
            child++;
        }
        if (!heap_before(nodes[child], node)) {
            break;
        }
        put(nodes, place, nodes[child]);
        place = child;
    }
    put(nodes, place, node);
}

void heap_remove(struct heap_node **nodes, size_t count, struct heap_node *node)
{
    struct heap_node *last = nodes[count];
    unsigned at = node->at;
    size_t place;

    node->at = 0;
    if (last == node) {
        return;
    }
    place = at - 1;
    if (place > 0 && heap_before(last, nodes[(place - 1) / 2])) {
        heap_sift_up(nodes, place, last);
    } else {
        heap_sift_down(nodes, count, place, last);
    }
}
