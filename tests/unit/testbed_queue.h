/* SPDX-License-Identifier: Apache-2.0 */
/* The queues of the real-time class and the timers, of either kind, for tests. */
#ifndef TESTBED_QUEUE_H
#define TESTBED_QUEUE_H

#include "rt_queue.h"
#include "timer.h"

/* Makes an empty queue outside of a system. */
void testbed_queue_init(struct rt_queue *q);

/* Whether the node is in the queue. */
bool testbed_queue_has(const struct rt_queue *q, const struct heap_node *node);

/* What is wrong with the queue or the timers, or NULL. */
const char *testbed_queue_violation(const struct rt_queue *q);
const char *testbed_timers_violation(const struct timers *timers);

#endif
