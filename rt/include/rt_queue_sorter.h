/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queue in a sorter of the fabric (docs/fabric.md). Every operation takes a constant number of accesses. The first node is also
 * known here, so that reading it takes none, and an insertion no load.
 */
#ifndef RT_QUEUE_SORTER_H
#define RT_QUEUE_SORTER_H

#define RT_QUEUE_ORDERS 32U /* number of orders that a put can name without a write of ORDER; a power of 2 */

struct rt_queue {
    unsigned count;
    unsigned least;                        /* of the orders that a put can name: ORDER - RT_QUEUE_ORDERS / 2 */
    struct heap_node *first;               /* unless the queue is empty */
    volatile char *registers, *puts;       /* of its sorter */
    struct heap_node *nodes[RT_QUEUE_MAX]; /* by value; a node's value is node->at - 1 */
    uint8_t values[RT_QUEUE_MAX];          /* from `count` on: those of no node */
};

/* Takes sorter `number`, which queue_sorter_boot.c has emptied at boot. */
void rt_queue_init(struct rt_queue *q, unsigned number);

/* The fabric's registers. */
volatile char *rt_queue_fabric(void);

void rt_queue_first_grew(struct rt_queue *q);

static inline struct heap_node *rt_queue_head(const struct rt_queue *q)
{
    return q->first;
}

#endif
