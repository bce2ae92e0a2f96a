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

#endif
