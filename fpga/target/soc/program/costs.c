/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of the core in paths that a hypervisor has, for the model of cycles (tests/costs.py).
 * Heap, copy and text are compiled from the hypervisor's sources. Each path runs with empty caches
 * (cold), then twice more (warm: the last).
 */
#include "heap.h"
#include "lib.h"
#include "print.h"
#include "soc.h"

#define BOARD_IRQ (BOARD + 8U)
#define SORTER_STATUS (FABRIC_SORTERS + FABRIC_SORTER_STATUS)
#define SORTER_HEAD (FABRIC_SORTERS + FABRIC_SORTER_HEAD)
#define SORTER_REMOVE (FABRIC_SORTERS + FABRIC_SORTER_REMOVE)
#define VALUE_BITS 0xffffU
#define TIMERS 16U
#define MESSAGE_WORDS 13U /* 100 bytes */
#define JOB_BYTES 16U
#define TURNS 5U

/* Of the core since reset. */
struct events {
    uint64_t cycles, instructions, fetch_misses, load_misses, stores, mispredicted;
};

/* What the counters do not see; see docs/benchmarks.md, "What a chip costs". */
struct accesses {
    /* of devices' registers; nothing waits for posted writes */
    unsigned int reads, writes, posted, atomics;
};

/* Owner of all: this file. */
static struct heap_node timers[TIMERS], *heap[TIMERS];
static uint64_t message[MESSAGE_WORDS], inbox[MESSAGE_WORDS];
static char line[64];

/* The other counters are read within the cycles: what the core fetches after the end does not
 * count. */
static inline void events_begin(struct events *e)
{
    __asm__ volatile(
        "csrr %5, mcycle; csrr %0, minstret; csrr %1, mhpmcounter3; csrr %2, mhpmcounter4;"
        "csrr %3, " COUNTER_STORES "; csrr %4, " COUNTER_MISPREDICTED
        : "=&r"(e->instructions), "=&r"(e->fetch_misses), "=&r"(e->load_misses), "=&r"(e->stores),
          "=&r"(e->mispredicted), "=&r"(e->cycles)::"memory");
}

static inline void events_end(struct events *e)
{
    __asm__ volatile("csrr %0, minstret; csrr %1, mhpmcounter3; csrr %2, mhpmcounter4;"
                     "csrr %3, " COUNTER_STORES "; csrr %4, " COUNTER_MISPREDICTED
                     "; csrr %5, mcycle"
                     : "=&r"(e->instructions), "=&r"(e->fetch_misses), "=&r"(e->load_misses),
                       "=&r"(e->stores), "=&r"(e->mispredicted), "=&r"(e->cycles)::"memory");
}

static void print_events(const char *name, const char *caches, const struct events *a,
                         const struct events *b, const struct accesses *by_hand)
{
    print("path %s %s %lu %lu %lu %lu %lu %lu", name, caches,
          (unsigned long)(b->cycles - a->cycles),
          (unsigned long)(b->instructions - a->instructions),
          (unsigned long)(b->fetch_misses - a->fetch_misses),
          (unsigned long)(b->load_misses - a->load_misses), (unsigned long)(b->stores - a->stores),
          (unsigned long)(b->mispredicted - a->mispredicted));
    print(" %u %u %u %u\n", by_hand->reads, by_hand->writes, by_hand->posted, by_hand->atomics);
}

static void path(const char *name, void (*prepare)(void), void (*body)(void),
                 struct accesses by_hand)
{
    struct events begin, end;

    for (unsigned int turn = 0; turn < TURNS; turn++) {
        prepare();
        if (turn == 0) {
            flush_data_cache();
            __asm__ volatile("fence.i" ::: "memory");
        }
        fence();
        events_begin(&begin);
        body();
        events_end(&end);
        if (turn == 0 || turn + 1 == TURNS) {
            print_events(name, turn == 0 ? "cold" : "warm", &begin, &end, &by_hand);
        }
    }
}

static void nothing(void)
{
}

static void fill_heap(void)
{
    for (unsigned int n = 0; n < TIMERS; n++) {
        timers[n].key = (n * 7U) % TIMERS;
        timers[n].order = n;
        timers[n].at = 0;
    }
    for (unsigned int n = 0; n + 1 < TIMERS; n++) {
        heap_sift_up(heap, n, &timers[n]);
    }
}

/* A timer is set and another one removed, as at the end of a slice. */
static void move_timers(void)
{
    heap_sift_up(heap, TIMERS - 1U, &timers[TIMERS - 1U]);
    heap_remove(heap, TIMERS - 1U, &timers[0]);
}

static void copy_message(void)
{
    copy_words(inbox, message, sizeof message);
}

/* A line of the hypervisor's console. */
static void format_line(void)
{
    static const unsigned long values[] = {3, 0x80200000UL, 1234567};
    struct text text;

    text_begin(&text, "vm %lu: pc 0x%016lx, %lu ticks\n", values);
    for (unsigned int n = 0; n < sizeof line; n++) {
        int c = text_next(&text);

        if (c == TEXT_END) {
            break;
        }
        line[n] = (char)c;
    }
}

static void request(void)
{
    (void)region_request(0);
}

static void sorter_put(void)
{
    *fabric(FABRIC_SORT_PUT) = 5;
    (void)*fabric(SORTER_STATUS);
}

static void sorter_pop(void)
{
    *fabric(SORTER_REMOVE) = *fabric(SORTER_HEAD) & VALUE_BITS;
}

static void board_interrupt(void)
{
    *at64(BOARD_IRQ) = 1;
    interrupt_wait(SOURCE_BOARD);
}

static void prepare_job(void)
{
    job_prepare(0, JOB_BYTES);
}

static void run_job(void)
{
    *interface32(0, FABRIC_IF_START) = 1;
    interrupt_wait(SOURCE_VM);
}

void test_costs(void)
{
    for (unsigned int n = 0; n < MESSAGE_WORDS; n++) {
        message[n] = n;
    }
    __asm__ volatile(SELECT_EVENTS ::: "memory");
    path("nothing", nothing, nothing, (struct accesses){0, 0, 0, 0});
    path("timers", fill_heap, move_timers, (struct accesses){0, 0, 0, 0});
    path("copy", nothing, copy_message, (struct accesses){0, 0, 0, 0});
    path("text", nothing, format_line, (struct accesses){0, 0, 0, 0});
    path("request", nothing, request, (struct accesses){1, 1, 0, 0});
    path("put", nothing, sorter_put, (struct accesses){1, 1, 0, 0});
    path("pop", sorter_put, sorter_pop, (struct accesses){1, 0, 1, 0});
    path("interrupt", nothing, board_interrupt, (struct accesses){2, 2, 1, 1});
    path("job", prepare_job, run_job, (struct accesses){2, 2, 1, 1});
}
