/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The costs of a queue of the hypervisor: of two functions of the including file, which are inlined
 * here,
 *
 *     void measured_insert(struct heap_node *node)
 *     void measured_take(void): removes the first node
 */
#include "bench.h"
#include "csr.h"
#include "heap.h"
#include "print.h"

#define QUEUE_LONGEST 64U

struct queue_measured {
    const char *name, *insert, *take; /* metrics are name.insert.n and name.take.n */
    unsigned step;                    /* from the order of a node to that of the next one */
    uint64_t (*random)(void);         /* gives keys */
    void (*reset)(void);              /* empties the queue */
};

static struct heap_node measured_nodes[QUEUE_LONGEST];

static void queue_report(const struct queue_measured *m, const char *what, unsigned count,
                         uint64_t *samples)
{
    char name[40];

    print_buffer(name, sizeof(name), "%s.%s.%u", m->name, what, count);
    bench_report(name, "instructions", samples, BENCH_SAMPLES);
}

static void queue_fill(const struct queue_measured *m, unsigned count)
{
    m->reset();
    for (unsigned i = 0; i < count; i++) {
        measured_nodes[i] = (struct heap_node){.key = m->random(), .order = i * m->step};
        measured_insert(&measured_nodes[i]);
    }
}

/* Counts the instructions of an insertion among n - 1 nodes and of the removal of the first of n
 * nodes, with random keys. */
static void queue_measure(const struct queue_measured *m)
{
    static uint64_t inserts[BENCH_SAMPLES], takes[BENCH_SAMPLES];

    for (unsigned count = 1; count <= QUEUE_LONGEST; count *= 2) {
        for (unsigned sample = 0; sample < BENCH_SAMPLES; sample++) {
            struct heap_node *last = &measured_nodes[count - 1];
            uint64_t before, between, after;

            queue_fill(m, count - 1);
            *last = (struct heap_node){.key = m->random(), .order = count * m->step};
            before = csr_read_instret();
            measured_insert(last);
            between = csr_read_instret();
            measured_take();
            after = csr_read_instret();
            inserts[sample] = between - before;
            takes[sample] = after - between;
        }
        queue_report(m, m->insert, count, inserts);
        queue_report(m, m->take, count, takes);
    }
}
