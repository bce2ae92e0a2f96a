/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A binary heap of pointers to nodes, smallest key first, in an array that its owner keeps with their number. Nodes know
 * where they are, so that any can be taken out.
 */
#ifndef HEAP_H
#define HEAP_H

#include "types.h"

struct heap_node {
    ticks_t key;
    unsigned order; /* among equal keys the earlier comes first; given by whoever inserts, from numbers that go round */
    unsigned at;    /* 1 + place in the heap, 0: in none */
};

static inline bool heap_before(const struct heap_node *a, const struct heap_node *b)
{
    return a->key < b->key || (a->key == b->key && (int)(a->order - b->order) < 0);
}

/* `node` belongs at `place` or above, which is free: those above that come after it move down. O(log n). */
void heap_up(struct heap_node **nodes, unsigned place, struct heap_node *node);

/* `node` belongs at `place` or below, which is free, of `count` nodes: those below that come before it move up. O(log n). */
void heap_down(struct heap_node **nodes, unsigned count, unsigned place, struct heap_node *node);

/* Takes a node out of the heap that it is in; `count` nodes are left. O(log n). */
void heap_remove(struct heap_node **nodes, unsigned count, struct heap_node *node);

#endif
