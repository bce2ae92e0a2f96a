/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of struct rtqueue_kind, for the queue of the including file, which has also
 * reset(). */
static void node_insert(unsigned node, uint64_t key, unsigned order)
{
    nodes[node] = (struct heap_node){.key = key, .order = order};
    rt_queue_insert(&queue, &nodes[node]);
}

static unsigned node_first(void)
{
    const struct heap_node *first = rt_queue_first(&queue);

    return first == NULL ? RTQUEUE_NONE : (unsigned)(first - nodes);
}

static void node_remove(unsigned node)
{
    rt_queue_remove(&queue, &nodes[node]);
}

static void node_grow(uint64_t by, unsigned order)
{
    struct heap_node *first = rt_queue_head(&queue);

    first->key += by;
    first->order = order;
    rt_queue_first_grew(&queue);
}

static void node_replace(unsigned node, uint64_t key, unsigned order)
{
    nodes[node] = (struct heap_node){.key = key, .order = order};
    rt_queue_replace_first(&queue, &nodes[node]);
}
