/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hypervisor's RT ready queue (rt/queue_heap.c, the same source), measured in a guest, which
 * can count instructions: insertion among n - 1 nodes and removal of the first of n nodes, with
 * random keys.
 */
#include "rt_queue.h"

#include "bench.h"
#include "csr.h"
#include "print.h"

#define QUEUE_SEED 12345U

static struct rt_queue queue;
static struct heap_node nodes[RT_QUEUE_MAX];

static uint64_t queue_random(void)
{
    static uint64_t state = QUEUE_SEED;

    state = state * 6364136223846793005UL + 1442695040888963407UL; /* Knuth's MMIX generator */
    return state >> 33;
}

static void queue_fill(unsigned count)
{
    queue.count = 0;
    for (unsigned i = 0; i < count; i++) {
        nodes[i] = (struct heap_node){.key = queue_random(), .order = i};
        rt_queue_insert(&queue, &nodes[i]);
    }
}

static void queue_report(const char *what, unsigned count, uint64_t *samples)
{
    char name[40];

    print_buffer(name, sizeof(name), "riscv.rt.queue.%s.%u", what, count);
    bench_report(name, "instructions", samples, BENCH_SAMPLES);
}

void bench_run_queue(void)
{
    static uint64_t inserts[BENCH_SAMPLES], takes[BENCH_SAMPLES];

    for (unsigned count = 1; count <= RT_QUEUE_MAX; count *= 2) {
        for (unsigned sample = 0; sample < BENCH_SAMPLES; sample++) {
            struct heap_node *last = &nodes[count - 1];
            uint64_t before, between, after;

            queue_fill(count - 1);
            *last = (struct heap_node){.key = queue_random(), .order = count};
            before = csr_read_instret();
            rt_queue_insert(&queue, last);
            between = csr_read_instret();
            rt_queue_remove(&queue, rt_queue_first(&queue));
            after = csr_read_instret();
            inserts[sample] = between - before;
            takes[sample] = after - between;
        }
        queue_report("insert", count, inserts);
        queue_report("take", count, takes);
    }
}
