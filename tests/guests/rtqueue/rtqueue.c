/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hypervisor's RT queues as a heap and in a sorter of the fabric, natively on a machine that
 * has it (tests/cosim): random operations give the same first node. Then the costs of the sorter
 * and of timers are counted.
 */
#include <stdbool.h>
#include <stdint.h>

#include "kind.h"
#include "print.h"
#include "rt_queue.h"
#include "uart.h"

#define OPERATIONS 20000U
#define FIRST_ORDER (UINT32_MAX - 3000U) /* orders wrap around */

int main(unsigned long hart, const void *fdt);

static const struct rtqueue_kind *const kinds[] = {&rtqueue_heap, &rtqueue_sorter};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

uint64_t rtqueue_random(void)
{
    static uint64_t state = 12345;

    state = state * 6364136223846793005UL + 1442695040888963407UL; /* Knuth's MMIX generator */
    return state >> 33;
}

static bool queued[RT_QUEUE_MAX];
static unsigned orders[RT_QUEUE_MAX];
static uint64_t keys[RT_QUEUE_MAX];

static void insert(unsigned node, unsigned order)
{
    keys[node] =
        rtqueue_random() % 16 == 0 ? UINT64_MAX - rtqueue_random() % 2 : rtqueue_random() % 24;
    orders[node] = order;
    queued[node] = true;
    for (unsigned i = 0; i < KINDS; i++) {
        kinds[i]->insert(node, keys[node], order);
    }
}

static void remove_node(unsigned node)
{
    queued[node] = false;
    for (unsigned i = 0; i < KINDS; i++) {
        kinds[i]->remove(node);
    }
}

/* The first key grows; its order stays or becomes the newest. */
static void grow(unsigned first, unsigned order)
{
    uint64_t by = keys[first] > UINT64_MAX - 9 ? 0 : rtqueue_random() % 9;

    keys[first] += by;
    orders[first] = rtqueue_random() % 2 == 0 ? order : orders[first];
    for (unsigned i = 0; i < KINDS; i++) {
        kinds[i]->grow(by, orders[first]);
    }
}

static void replace(unsigned first, unsigned node, unsigned order)
{
    keys[node] = keys[first] + (keys[first] > UINT64_MAX - 9 ? 0 : rtqueue_random() % 9);
    orders[node] = order;
    queued[first] = false;
    queued[node] = true;
    for (unsigned i = 0; i < KINDS; i++) {
        kinds[i]->replace(node, keys[node], order);
    }
}

static void operate(unsigned step)
{
    unsigned limit = 1 + step / 100 % RT_QUEUE_MAX, node = (unsigned)(rtqueue_random() % limit);
    unsigned order = FIRST_ORDER + step, first = kinds[0]->first(),
             what = (unsigned)(rtqueue_random() % 8);

    if (!queued[node] && (what < 3 || first == RTQUEUE_NONE)) {
        insert(node, order);
    } else if (!queued[node] && what == 3) {
        replace(first, node, order);
    } else if (what < 6 && first != RTQUEUE_NONE) {
        grow(first, order);
    } else if (queued[node]) {
        remove_node(node);
    } else {
        remove_node(first);
    }
}

static bool equal(unsigned step)
{
    unsigned heap = kinds[0]->first(), sorter = kinds[1]->first();

    if (heap != sorter) {
        print("rtqueue: step %u: heap %u, sorter %u\n", step, heap, sorter);
    }
    return heap == sorter;
}

static void compare(void)
{
    unsigned step = 0;

    for (unsigned i = 0; i < KINDS; i++) {
        kinds[i]->reset();
    }
    while (step < OPERATIONS && equal(step)) {
        operate(step++);
    }
    while (equal(step) && kinds[0]->first() != RTQUEUE_NONE) {
        remove_node(kinds[0]->first());
        step++;
    }
    print("rtqueue: %u operations\n", step);
}

int main(unsigned long hart, const void *fdt)
{
    (void)hart;
    (void)fdt;
    uart_init();
    compare();
    rtqueue_measure();
    rtqueue_measure_timers_heap();
    rtqueue_measure_timers_sorter();
    print("rtqueue: done\nBENCH done\n");
    return 0;
}
