/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A binary heap of pointers to nodes, smallest key first. The owner stores the array and the number
 * of nodes. Nodes know their places, so that any node can be removed.
 */
#ifndef HEAP_H
#define HEAP_H

#include "types.h"

struct heap_node {
    ticks_t key;    /* the lowest comes first */
    unsigned order; /* among equal keys, lower numbers first; assigned by the caller, may wrap */
    unsigned at;    /* 1 + place in the heap, 0: in no heap */
};

static inline bool heap_before(const struct heap_node *a, const struct heap_node *b)
{
    return a->key < b->key || (a->key == b->key && (int)(a->order - b->order) < 0);
}

/* Inserts `node` at the free `place` or above: larger nodes above move down. O(log n). */
void heap_sift_up(struct heap_node **nodes, size_t place, struct heap_node *node);

/* Inserts `node` at the free `place` or below, of `count` nodes: smaller nodes below move up. O(log
 * n). */
void heap_sift_down(struct heap_node **nodes, size_t count, size_t place, struct heap_node *node);

/* Removes a node from its heap; `count` nodes remain. O(log n). */
void heap_remove(struct heap_node **nodes, size_t count, struct heap_node *node);

#endif
