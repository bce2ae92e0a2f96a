/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A priority queue in a sorter of the fabric (docs/fabric.md): smallest key first, by the order
 * among equal keys. Every operation takes a constant number of accesses. The first node is also
 * known here, so that reading it takes none, and an insertion no load. The owner holds sched_lock.
 */
#ifndef SORTER_H
#define SORTER_H

#include "heap.h"

#define SORTER_NODES 64U  /* values that the address of a put can name; a power of 2 */
#define SORTER_ORDERS 32U /* orders that it can name without a write of ORDER; a power of 2 */

struct sorter {
    unsigned count; /* of nodes in it */
    /* of the orders that a put can name: ORDER - SORTER_ORDERS / 2 */
    unsigned least;
    struct heap_node *first;               /* unless the queue is empty */
    volatile char *registers, *puts;       /* of its sorter */
    struct heap_node *nodes[SORTER_NODES]; /* by value; a node's value is node->at - 1 */
    uint8_t values[SORTER_NODES];          /* from `count` on: those of no node */
};

/* An empty queue in sorter `number` of the `SORTERS_A_CPU` of CPU `cpu`, which sorters_take() has
 * emptied. */
void sorter_init(struct sorter *s, unsigned cpu, unsigned number);

/* Inserts a node that is in no queue. At most as many nodes as sorters_take() was called for. */
void sorter_insert(struct sorter *s, struct heap_node *node);

/* Removes a node from its queue. */
void sorter_remove(struct sorter *s, struct heap_node *node);

/* Replaces the first node by one that is in no queue and not before it in the order. */
void sorter_replace_first(struct sorter *s, struct heap_node *node);

/* Restores the order after the first node's key has grown. Called for every such change, also of
 * the only node. */
void sorter_first_grew(struct sorter *s);

/* --- sorter_boot.c --- */

/* Finds the fabric and empties sorters `first` .. `first + count - 1` of every CPU, each of which
 * must hold `nodes` nodes. At boot. Returns why the system cannot use them, or NULL. */
const char *sorters_take(unsigned first, unsigned count, unsigned nodes);

/* The fabric's registers. */
volatile char *sorter_fabric(void);

#endif
