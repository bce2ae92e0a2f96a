/* SPDX-License-Identifier: Apache-2.0 */
/* rt/queue_sorter.c, the same source as in the hypervisor, in the last of the fabric's sorters. */
#define RT_QUEUE_SORTER
#define rt_queue_init sorter_init
#define rt_queue_insert sorter_insert
#define rt_queue_remove sorter_remove
#define rt_queue_replace_first sorter_replace_first
#define rt_queue_first_grew sorter_first_grew
#include "../../../rt/queue_sorter.c"

#include "bench.h"
#include "csr.h"
#include "kind.h"
#include "print.h"

#define FABRIC 0x18000000UL
#define SORTER 3U

static struct rt_queue queue;
static struct heap_node nodes[RT_QUEUE_MAX];

volatile char *rt_queue_fabric(void)
{
    return (volatile char *)FABRIC;
}

static void reset(void)
{
    rt_queue_init(&queue, SORTER);
    for (unsigned value = 0; value < RT_QUEUE_MAX; value++) {
        arch_device_write64(queue.registers + FABRIC_SORTER_REMOVE, value);
    }
    arch_device_write64(queue.registers + FABRIC_SORTER_ORDER, 0);
}

#include "kind_body.h"

const struct rtqueue_kind rtqueue_sorter = {
    "sorter", reset, node_first, node_insert, node_remove, node_grow, node_replace,
};

static void report(const char *what, unsigned count, uint64_t *samples)
{
    char name[40];

    print_buffer(name, sizeof(name), "riscv.rt.queue.sorter.%s.%u", what, count);
    bench_report(name, "instructions", samples, BENCH_SAMPLES);
}

/* As the bench guest does for the heap (guests/test/bench/queue.c). */
void rtqueue_measure(void)
{
    static uint64_t inserts[BENCH_SAMPLES], takes[BENCH_SAMPLES];

    for (unsigned count = 1; count <= RT_QUEUE_MAX; count *= 2) {
        for (unsigned sample = 0; sample < BENCH_SAMPLES; sample++) {
            struct heap_node *last = &nodes[count - 1];
            uint64_t before, between, after;

            reset();
            for (unsigned i = 0; i + 1 < count; i++) {
                node_insert(i, rtqueue_random(), i);
            }
            *last = (struct heap_node){.key = rtqueue_random(), .order = count};
            before = csr_read_instret();
            rt_queue_insert(&queue, last);
            between = csr_read_instret();
            rt_queue_remove(&queue, rt_queue_first(&queue));
            after = csr_read_instret();
            inserts[sample] = between - before;
            takes[sample] = after - between;
        }
        report("insert", count, inserts);
        report("take", count, takes);
    }
}
