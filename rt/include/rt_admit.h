/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Admission to a CPU: the processor-demand test for EDF with deadlines up to periods (Baruah, Rosier, Howell 1990), which
 * is exact, evaluated backwards from the end of the synchronous busy period (QPA: Zhang, Burns, "Schedulability analysis
 * for real-time systems with EDF scheduling", IEEE Transactions on Computers 58(9), 2009), with a term for the time in
 * which nobody looks at interrupts, and one for releases, which take their time at once, whatever their deadlines (as
 * interrupt handlers in Jeffay, Stone, "Accounting for interrupt handling costs in dynamic priority task systems", RTSS
 * 1993). It is done in passes over the apps, a few of them a step.
 */
#ifndef RT_ADMIT_H
#define RT_ADMIT_H

#include "rt_queue.h"
#include "types.h"

/* What an app asks of its CPU, in ticks. */
struct rt_demand {
    ticks_t cost;     /* its budget and the hypervisor's cost of a job, its release included; at least 1 */
    ticks_t deadline; /* relative, at most the period */
    ticks_t period;   /* 1 .. 2^45 */
};

enum rt_verdict {
    RT_UNDECIDED = 0, /* take another step */
    RT_ADMITTED,
    RT_REFUSED, /* in `at` ticks from a common release the apps demand `demand` ticks; at = 0: utilization over 1 */
    RT_GAVE_UP, /* not decided within RT_ADMIT_PASSES: counts as refused */
};

#define RT_ADMIT_PASSES 40000U                         /* over the apps, until it gives up */
#define RT_ADMIT_APPS (sizeof(ulong) == 8U ? 12U : 4U) /* of a pass in one step; 64-bit division is longer on 32 bits */

struct rt_admit {
    const struct rt_demand *apps;
    unsigned count;
    ticks_t blocked; /* longest time in which a due release is not seen */
    ticks_t release; /* what a release takes from whoever runs */
    unsigned passes;
    enum rt_admit_phase {
        RT_ADMIT_UTILIZATION = 0, /* the sum is the utilization */
        RT_ADMIT_COMMON,          /* a common multiple of the periods */
        RT_ADMIT_WORK,            /* what is released in that */
        RT_ADMIT_BUSY,            /* what is released in `at` */
        RT_ADMIT_LAST,            /* the last deadline before `at` */
        RT_ADMIT_DEMAND           /* what has to be done in `at` */
    } phase;
    ticks_t at;     /* length of the interval that is looked at */
    ticks_t demand; /* what the apps demand in it */
    unsigned met;   /* apps, in this pass */
    uint64_t sum;   /* of those */
    enum rt_verdict verdict;
};

/* Begins the test of `count` apps (1 .. RT_QUEUE_MAX), which are the same at every step. */
void rt_admit_begin(struct rt_admit *test, const struct rt_demand *apps, unsigned count, ticks_t blocked,
                    ticks_t release);

/* One step; none once it is decided. */
enum rt_verdict rt_admit_step(struct rt_admit *test);

#endif
