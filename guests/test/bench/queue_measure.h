/* SPDX-License-Identifier: Apache-2.0 */
/* The costs of an RT queue of the hypervisor (rt_queue.h), which the including file chooses. */
#include "bench.h"
#include "csr.h"
#include "print.h"
#include "rt_queue.h"

struct queue_measured {
    const char *name;         /* of the metrics, before ".insert.n" and ".take.n" */
    struct rt_queue *queue;   /* and RT_QUEUE_MAX nodes for it */
    struct heap_node *nodes;
    uint64_t (*random)(void); /* gives keys */
    void (*reset)(void);      /* empties the queue */
};

static void queue_report(const struct queue_measured *m, const char *what, unsigned count, uint64_t *samples)
{
    char name[40];

    print_buffer(name, sizeof(name), "%s.%s.%u", m->name, what, count);
    bench_report(name, "instructions", samples, BENCH_SAMPLES);
}

static void queue_fill(const struct queue_measured *m, unsigned count)
{
    m->reset();
    for (unsigned i = 0; i < count; i++) {
        m->nodes[i] = (struct heap_node){.key = m->random(), .order = i};
        rt_queue_insert(m->queue, &m->nodes[i]);
    }
}

/* Counts the instructions of an insertion among n - 1 nodes and of the removal of the first of n nodes, with random keys. */
static void queue_measure(const struct queue_measured *m)
{
    static uint64_t inserts[BENCH_SAMPLES], takes[BENCH_SAMPLES];

    for (unsigned count = 1; count <= RT_QUEUE_MAX; count *= 2) {
        for (unsigned sample = 0; sample < BENCH_SAMPLES; sample++) {
            struct heap_node *last = &m->nodes[count - 1];
            uint64_t before, between, after;

            queue_fill(m, count - 1);
            *last = (struct heap_node){.key = m->random(), .order = count};
            before = csr_read_instret();
            rt_queue_insert(m->queue, last);
            between = csr_read_instret();
            rt_queue_remove(m->queue, rt_queue_first(m->queue));
            after = csr_read_instret();
            inserts[sample] = between - before;
            takes[sample] = after - between;
        }
        queue_report(m, "insert", count, inserts);
        queue_report(m, "take", count, takes);
    }
}
