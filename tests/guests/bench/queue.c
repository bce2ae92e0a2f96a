/* SPDX-License-Identifier: Apache-2.0 */
/* The hypervisor's RT queue as a heap (rt/queue_heap.c, the same source), measured in a guest,
 * which can count instructions. */
#include "rt_queue.h"

#define QUEUE_SEED 12345U

static struct rt_queue queue;

static inline void measured_insert(struct heap_node *node)
{
    rt_queue_insert(&queue, node);
}

static inline void measured_take(void)
{
    rt_queue_remove(&queue, rt_queue_first(&queue));
}

#include "queue_measure.h"

static uint64_t queue_random(void)
{
    static uint64_t state = QUEUE_SEED;

    state = state * 6364136223846793005UL + 1442695040888963407UL; /* Knuth's MMIX generator */
    return state >> 33;
}

static void queue_reset(void)
{
    queue.count = 0;
}

void bench_run_queue(void)
{
    static const struct queue_measured heap = {"riscv.rt.queue", "insert",   "take", 1,
                                               queue_random,     queue_reset};

    queue_measure(&heap);
}
