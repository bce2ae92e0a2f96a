/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the queue of rt, of both kinds, with a sorted list. */
#include "unit.h"

#include <string.h>

#include "testbed_queue.h"

#define ROUNDS 200000U
#define ORDER_ROUNDS 2000U

static uint64_t seed;

static uint64_t next_random(uint64_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (seed >> 33) % below;
}

/* The model: nodes in removal order. */
static struct heap_node *sorted[RT_QUEUE_MAX];
static unsigned count;

static void model_insert(struct heap_node *node)
{
    unsigned at = count++;

    for (; at > 0 && (sorted[at - 1]->key > node->key ||
                      (sorted[at - 1]->key == node->key && sorted[at - 1]->order > node->order));
         at--) {
        sorted[at] = sorted[at - 1];
    }
    sorted[at] = node;
}

static unsigned model_find(const struct heap_node *node)
{
    unsigned at = 0;

    while (sorted[at] != node) {
        at++;
    }
    return at;
}

static void model_remove(struct heap_node *node)
{
    unsigned at = model_find(node);

    memmove(&sorted[at], &sorted[at + 1], (--count - at) * sizeof(sorted[0]));
}

static void assert_same(const struct rt_queue *q)
{
    assert_int_equal(rt_queue_count(q), count);
    assert_ptr_equal(rt_queue_first(q), count == 0 ? NULL : sorted[0]);
    assert_null(testbed_queue_violation(q));
    for (unsigned i = 0; i < count; i++) {
        assert_true(testbed_queue_has(q, sorted[i]));
    }
}

/* Few distinct keys, so that many are equal; some near the maximum. */
static ticks_t random_key(void)
{
    return next_random(16) == 0 ? TICKS_NEVER - next_random(2) : next_random(24);
}

static void insert_one(struct rt_queue *q, struct heap_node *nodes, unsigned limit, unsigned order)
{
    struct heap_node *node = &nodes[next_random(limit)];

    if (node->at == 0) {
        node->key = random_key();
        node->order = order;
        rt_queue_insert(q, node);
        model_insert(node);
    }
}

static void remove_one(struct rt_queue *q)
{
    if (count > 0) {
        struct heap_node *node = sorted[next_random(2) == 0 ? 0 : next_random(count)];

        rt_queue_remove(q, node);
        model_remove(node);
        assert_int_equal(node->at, 0);
    }
}

static void grow_first(struct rt_queue *q, unsigned order)
{
    if (count > 0) {
        struct heap_node *node = sorted[0];

        model_remove(node);
        node->key += node->key >= TICKS_NEVER - 9 ? 0 : next_random(9);
        node->order = next_random(2) == 0 ? order : node->order;
        model_insert(node);
        rt_queue_first_grew(q);
    }
}

/* Replaces the first node by one whose key is not smaller. */
static void replace_first(struct rt_queue *q, struct heap_node *nodes, unsigned limit,
                          unsigned order)
{
    struct heap_node *node = &nodes[next_random(limit)];

    if (count > 0 && node->at == 0) {
        struct heap_node *first = sorted[0];

        node->key = first->key;
        node->key += node->key >= TICKS_NEVER - 9 ? 0 : next_random(9);
        node->order = order;
        rt_queue_replace_first(q, node);
        model_remove(first);
        model_insert(node);
        assert_int_equal(first->at, 0);
    }
}

static void rt_queue_is_a_sorted_list(void **state)
{
    static struct rt_queue q;
    static struct heap_node nodes[RT_QUEUE_MAX];

    (void)state;
    testbed_queue_init(&q);
    for (unsigned i = 0; i < ROUNDS; i++) {
        /* The queue alternately fills up to its limit and drains. */
        unsigned limit = 1 + i / 100 % RT_QUEUE_MAX,
                 what = (unsigned)next_random(i / 500 % 2 == 0 ? 5 : 9);

        if (what < 2) {
            insert_one(&q, nodes, limit, i);
        } else if (what == 2) {
            grow_first(&q, i);
        } else if (what == 3) {
            replace_first(&q, nodes, limit, i);
        } else {
            remove_one(&q);
        }
        assert_same(&q);
    }
}

/* Equal keys are first in, first out, also when the sequence number wraps. */
static void rt_queue_gives_back_all_in_order(void **state)
{
    static struct rt_queue q;
    static struct heap_node nodes[RT_QUEUE_MAX];

    (void)state;
    testbed_queue_init(&q);
    for (unsigned round = 0; round < ORDER_ROUNDS; round++) {
        const struct heap_node *last = NULL;
        unsigned n = 1 + round % RT_QUEUE_MAX;

        for (unsigned i = 0; i < n; i++) {
            nodes[i] = (struct heap_node){.key = next_random(1 + round % 50),
                                          .order = UINT32_MAX - 30U + i};
            rt_queue_insert(&q, &nodes[i]);
        }
        for (unsigned i = 0; i < n; i++) {
            struct heap_node *first = rt_queue_first(&q);

            assert_true(last == NULL || last->key < first->key ||
                        (last->key == first->key && last < first));
            rt_queue_remove(&q, first);
            last = first;
        }
        assert_null(rt_queue_first(&q));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rt_queue_is_a_sorted_list),
        cmocka_unit_test(rt_queue_gives_back_all_in_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
