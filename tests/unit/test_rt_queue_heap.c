/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds the costs of rt/queue_heap.c in node comparisons and moves. */
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
#define heap_sift_up counted_up
#define heap_sift_down counted_down
#define heap_remove counted_heap_remove
#define rt_queues_boot counted_boot
#define rt_queue_insert counted_insert
#define rt_queue_remove counted_remove
#define rt_queue_sift_first counted_sink_first
#define rt_queue_replace_first counted_replace_first
void heap_sift_up(struct heap_node **nodes, size_t place, struct heap_node *node);
void heap_sift_down(struct heap_node **nodes, size_t count, size_t place, struct heap_node *node);
void heap_remove(struct heap_node **nodes, size_t count, struct heap_node *node);
void rt_queue_insert(struct rt_queue *q, struct heap_node *node);
void rt_queue_remove(struct rt_queue *q, struct heap_node *node);
void rt_queue_sift_first(struct rt_queue *q);
void rt_queue_replace_first(struct rt_queue *q, struct heap_node *node);
#include "../../core/lib/heap.c"
#include "../../rt/queue_heap.c"
#undef heap_before
#undef heap_sift_up
#undef heap_sift_down
#undef heap_remove
#undef rt_queue_insert
#undef rt_queue_remove
#undef rt_queue_sift_first
#undef rt_queue_replace_first

#define COST_ROUNDS 2000U

static uint64_t seed;

static uint64_t next_random(uint64_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (seed >> 33) % below;
}

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
        counted_sink_first(&q);
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
        fprintf(table,
                "apps, worst comparisons/moves of: take first, take any, insert, first grew\n");
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
        cmocka_unit_test(rt_queue_costs_the_logarithm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
