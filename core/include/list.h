/* SPDX-License-Identifier: Apache-2.0 */
/* A circular doubly linked list; the head is a node too. No operation loops. */
#ifndef LIST_H
#define LIST_H

#include "types.h"

struct list {
    struct list *next, *prev;
};

static inline void list_init(struct list *head)
{
    head->next = head;
    head->prev = head;
}

static inline bool list_empty(const struct list *head)
{
    return head->next == head;
}

/* Inserts `node` before `where`; with the head as `where`, at the tail. */
static inline void list_insert_before(struct list *where, struct list *node)
{
    node->next = where;
    node->prev = where->prev;
    where->prev->next = node;
    where->prev = node;
}

/* Takes `node` out of whatever list it is in; a node that is in none (initialised) stays as it is. */
static inline void list_remove(struct list *node)
{
    node->prev->next = node->next;
    node->next->prev = node->prev;
    list_init(node);
}

/* Takes the first node out of a list that is not empty. The node is left as it was: for lists whose nodes are only ever
 * inserted again or asked for by their owner's state. */
static inline struct list *list_take_first(struct list *head)
{
    struct list *node = head->next;

    head->next = node->next;
    node->next->prev = head;
    return node;
}

#endif
