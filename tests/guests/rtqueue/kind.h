/* SPDX-License-Identifier: Apache-2.0 */
/* A kind of queue, with nodes of its own. */
#ifndef RTQUEUE_KIND_H
#define RTQUEUE_KIND_H

#include <stdint.h>

#define RTQUEUE_NONE UINT32_MAX

struct rtqueue_kind {
    const char *name;

    void (*reset)(void);     /* an empty queue */
    unsigned (*first)(void); /* index of the first node, RTQUEUE_NONE if the queue is empty */
    void (*insert)(unsigned node, uint64_t key, unsigned order);
    void (*remove)(unsigned node);
    void (*grow)(uint64_t by, unsigned order); /* the first node's key */
    void (*replace)(unsigned node, uint64_t key, unsigned order);
};

extern const struct rtqueue_kind rtqueue_heap, rtqueue_sorter;

uint64_t rtqueue_random(void);

/* Report costs: of the sorter, of timers in a heap, and of timers in a sorter. */
void rtqueue_measure(void);
void rtqueue_measure_timers_heap(void);
void rtqueue_measure_timers_sorter(void);

#endif
