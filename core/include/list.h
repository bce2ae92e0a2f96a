/* SPDX-License-Identifier: Apache-2.0 */
/* A circular doubly linked list; the head is a node too. No operation loops. Nodes are part of the
 * structures in the list, and the lock of the list's owner guards them. */
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

/* Removes `node` from its list; a node in no list (initialised) is unchanged. */
static inline void list_remove(struct list *node)
{
    node->prev->next = node->next;
    node->next->prev = node->prev;
    list_init(node);
}

/* Moves all nodes of `from`, which is not empty, before `where`; with the head as `where`, to the
 * tail. */
static inline void list_splice_before(struct list *where, struct list *from)
{
    from->next->prev = where->prev;
    where->prev->next = from->next;
    from->prev->next = where;
    where->prev = from->prev;
    list_init(from);
}

/* Removes the first node of a list that is not empty, without updating the node: for lists whose
 * nodes are only inserted again, and whose owners know whether they are in a list. */
static inline struct list *list_take_first(struct list *head)
{
    struct list *node = head->next;

    head->next = node->next;
    node->next->prev = head;
    return node;
}

#endif
