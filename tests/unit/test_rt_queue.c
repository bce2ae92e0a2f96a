/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the queue of rt with a sorted list, and bounds its costs in node comparisons and
 * moves. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rt_queue.h"

/* Compiles the same source again with counters. */
static unsigned comparisons;

static bool counted_before(const struct heap_node *a, const struct heap_node *b)
{
    comparisons++;
    return heap_before(a, b);
}

#define heap_before counted_before
#define heap_up counted_up
#define heap_down counted_down
#define heap_remove counted_heap_remove
#define rt_queue_insert counted_insert
#define rt_queue_remove counted_remove
#define rt_queue_first_grew counted_first_grew
#define rt_queue_replace_first counted_replace_first
void heap_up(struct heap_node **nodes, unsigned place, struct heap_node *node);
void heap_down(struct heap_node **nodes, unsigned count, unsigned place, struct heap_node *node);
void heap_remove(struct heap_node **nodes, unsigned count, struct heap_node *node);
void rt_queue_insert(struct rt_queue *q, struct heap_node *node);
void rt_queue_remove(struct rt_queue *q, struct heap_node *node);
void rt_queue_first_grew(struct rt_queue *q);
void rt_queue_replace_first(struct rt_queue *q, struct heap_node *node);
#include "../../core/lib/heap.c"
#include "../../rt/queue_heap.c"
#undef heap_before
#undef heap_up
#undef heap_down
#undef heap_remove
#undef rt_queue_insert
#undef rt_queue_remove
#undef rt_queue_first_grew
#undef rt_queue_replace_first

#define ROUNDS 200000U
#define COST_ROUNDS 2000U

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
    assert_int_equal(q->count, count);
    assert_ptr_equal(rt_queue_first(q), count == 0 ? NULL : sorted[0]);
    for (unsigned i = 0; i < q->count; i++) {
        assert_int_equal(q->nodes[i]->at, i + 1);
        assert_true(i == 0 || !heap_before(q->nodes[i], q->nodes[(i - 1) / 2]));
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
        node->order = order;
        model_insert(node);
        rt_queue_first_grew(q);
    }
}

/* Replaces the first node by one whose key is not smaller. */
static void replace_first(struct rt_queue *q, struct heap_node *nodes, unsigned limit, unsigned order)
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
    for (unsigned i = 0; i < ROUNDS; i++) {
        /* The queue alternately fills up to its limit and drains. */
        unsigned limit = 1 + i / 100 % RT_QUEUE_MAX, what = (unsigned)next_random(i / 500 % 2 == 0 ? 5 : 9);

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
    for (unsigned round = 0; round < COST_ROUNDS; round++) {
        const struct heap_node *last = NULL;
        unsigned n = 1 + round % RT_QUEUE_MAX;

        for (unsigned i = 0; i < n; i++) {
            nodes[i] = (struct heap_node){.key = next_random(1 + round % 50), .order = UINT32_MAX - 30U + i};
            rt_queue_insert(&q, &nodes[i]);
        }
        for (unsigned i = 0; i < n; i++) {
            struct heap_node *first = rt_queue_first(&q);

            assert_true(last == NULL || last->key < first->key || (last->key == first->key && last < first));
            rt_queue_remove(&q, first);
            last = first;
        }
        assert_null(rt_queue_first(&q));
    }
}

/* --- cost --- */

struct cost {
    unsigned comparisons, moves;
};

/* The number of nodes whose place has changed. */
static unsigned moves(const struct heap_node *nodes, const unsigned *before)
{
    unsigned changed = 0;

    for (unsigned i = 0; i < RT_QUEUE_MAX; i++) {
        changed += nodes[i].at != before[i];
    }
    return changed;
}

static void note_places(const struct heap_node *nodes, unsigned *before)
{
    for (unsigned i = 0; i < RT_QUEUE_MAX; i++) {
        before[i] = nodes[i].at;
    }
    comparisons = 0;
}

static void note_cost(struct cost *worst, const struct heap_node *nodes, const unsigned *before)
{
    unsigned moved = moves(nodes, before);

    worst->comparisons = comparisons > worst->comparisons ? comparisons : worst->comparisons;
    worst->moves = moved > worst->moves ? moved : worst->moves;
}

/* The worst costs over many queues of n nodes, in which the first or any node is removed and
 * reinserted. */
static void cost_of(unsigned n, struct cost worst[4])
{
    static struct heap_node nodes[RT_QUEUE_MAX];
    static unsigned before[RT_QUEUE_MAX];
    struct rt_queue q = {0};

    memset(nodes, 0, sizeof(nodes));
    for (unsigned i = 0; i < n; i++) {
        nodes[i].key = next_random(1000);
        counted_insert(&q, &nodes[i]);
    }
    for (unsigned round = 0; round < COST_ROUNDS; round++) {
        struct heap_node *node = round % 2 == 0 ? q.nodes[0] : q.nodes[next_random(n)];

        note_places(nodes, before);
        counted_remove(&q, node);
        note_cost(&worst[round % 2], nodes, before);
        node->key = next_random(round % 3 == 0 ? 2 : 1000);
        node->order = round;
        note_places(nodes, before);
        counted_insert(&q, node);
        note_cost(&worst[2], nodes, before);
        q.nodes[0]->key += next_random(1000);
        note_places(nodes, before);
        counted_first_grew(&q);
        note_cost(&worst[3], nodes, before);
    }
}

static unsigned levels(unsigned n)
{
    unsigned log2 = 0;

    while (n >> log2 != 0) {
        log2++;
    }
    return log2; /* of a heap of n nodes */
}

static void rt_queue_costs_the_logarithm(void **state)
{
    static const unsigned sizes[] = {1, 2, 4, 8, 16, 32, 64};
    const char *file = getenv("RT_QUEUE_TABLE");
    FILE *table = file == NULL ? NULL : fopen(file, "w");

    (void)state;
    if (table != NULL) {
        fprintf(table, "apps, worst comparisons/moves of: take first, take any, insert, first grew\n");
    }
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct cost worst[4] = {{0}};

        cost_of(sizes[i], worst);
        if (table != NULL) {
            fprintf(table, "%u", sizes[i]);
        }
        for (size_t k = 0; k < 4; k++) {
            assert_true(worst[k].comparisons <= 2 * levels(sizes[i]) + 1);
            assert_true(worst[k].moves <= levels(sizes[i]) + 1);
            if (table != NULL) {
                fprintf(table, ", %u/%u", worst[k].comparisons, worst[k].moves);
            }
        }
        if (table != NULL) {
            fprintf(table, "\n");
        }
    }
    if (table != NULL) {
        fclose(table);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rt_queue_is_a_sorted_list),
        cmocka_unit_test(rt_queue_gives_back_all_in_order),
        cmocka_unit_test(rt_queue_costs_the_logarithm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
