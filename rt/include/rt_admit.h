/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Admission to a CPU: the processor-demand test for EDF with deadlines up to periods (Baruah,
 * Rosier, Howell 1990), which is exact, evaluated backwards from the end of the synchronous busy
 * period (QPA: Zhang, Burns, "Schedulability analysis for real-time systems with EDF scheduling",
 * IEEE Transactions on Computers 58(9), 2009), with a term for non-preemptible sections, and one
 * for releases, which preempt at once, whatever their deadlines (as interrupt handlers in Jeffay,
 * Stone, "Accounting for interrupt handling costs in dynamic priority task systems", RTSS 1993).
 * The test runs in passes over the apps, a few apps a step.
 *
 * Best effort is the lowest priority of the CPU. Its reserve is admitted by response-time analysis
 * (Joseph, Pandya, "Finding response times in a real-time system", The Computer Journal 29(5),
 * 1986): the longest time in which it gets `reserve` ticks is the least interval that holds these
 * and every job released in it, all apps being released at its start. No other interval is worse:
 * the interval in which best effort waits begins when no app has work, and every app's server uses
 * at most its budget per period, whatever its jobs do.
 *
 * A job on a device (docs/real-time.md, "Devices") takes at most D = wait + blocked * count + sum
 * of ceil((D + deadline) / period) * cost: the apps delay the hypervisor, which has to handle the
 * device's interrupts, by at most the jobs that have not reached their deadline when the job on the
 * device begins, and those released until it ends.
 */
#ifndef RT_ADMIT_H
#define RT_ADMIT_H

#include "rt_queue.h"
#include "types.h"

/* The demand of an app on its CPU, in ticks. */
struct rt_demand {
    /* its budget and the hypervisor's cost of a job, its release included; at least 1 */
    ticks_t cost;
    ticks_t deadline; /* relative, at most the period */
    ticks_t period;   /* 1 .. 2^45 */
    /* longest time of a job on a device, CPU time of apps aside; 0: the app uses none */
    ticks_t wait;
};

/* CPU time beyond the apps' budgets, in ticks: of the hypervisor, and of best effort. */
struct rt_costs {
    ticks_t release; /* cost of a release to the app that it preempts, whose budget is refunded */
    ticks_t change;  /* a job's share of its context switches, added to its budget */
    ticks_t blocked; /* longest non-preemptible section, during which a due release is delayed */
    ticks_t reserve; /* CPU time that best effort gets */
    ticks_t late;    /* in any interval of this length; 0: there is no reserve */
};

enum rt_verdict {
    RT_UNDECIDED = 0, /* needs further steps */
    RT_ADMITTED,
    /* in `at` ticks from a common release the apps demand `demand` ticks; at = 0: utilization over
     * 1 */
    RT_REFUSED,
    /* refused: best effort would get its reserve within `at` ticks, which is more than `late` */
    RT_STARVES,
    RT_GAVE_UP, /* refused: not decided within RT_ADMIT_PASSES */
    /* refused: a job of app `user` on a device may take `at` ticks, longer than from its deadline
     * to its next release */
    RT_DELAYED,
};

#define RT_ADMIT_PASSES 40000U /* over the apps, until it gives up */
/* of a pass in one step; 64-bit division is longer on 32 bits */
#define RT_ADMIT_APPS (sizeof(ulong) == 8U ? 9U : 4U)

struct rt_admit {
    const struct rt_demand *apps; /* `count` of them; the caller's, as the costs */
    const struct rt_costs *costs;
    unsigned passes; /* over the apps so far */
    uint8_t count;   /* of apps */
    uint8_t index;   /* of the next app in this pass */
    uint8_t users;   /* number of apps that use devices */
    uint8_t user;    /* the app whose delay is tested */
    enum rt_admit_phase {
        RT_ADMIT_UTILIZATION = 0, /* the sum is the utilization */
        RT_ADMIT_COMMON,          /* a common multiple of the periods */
        RT_ADMIT_WORK,            /* the work released in that */
        /* the work released in `at`, which also holds best effort's reserve */
        RT_ADMIT_RESERVE,
        RT_ADMIT_BUSY,   /* the work released in `at` */
        RT_ADMIT_LAST,   /* the last deadline before `at` */
        RT_ADMIT_DEMAND, /* the demand in `at` */
        /* 1 + the index of the first app from `user` on that uses a device, or 0 */
        RT_ADMIT_USER,
        /* the work of jobs that are there in `at` ticks from any moment */
        RT_ADMIT_DELAY
    } phase;
    enum rt_verdict verdict; /* RT_UNDECIDED until the last step */
    ticks_t at;              /* length of the interval that is tested */
    ticks_t demand;          /* of the apps in it */
    uint64_t sum;            /* over the apps before it */
};

/* Begins the test of `count` apps (1 .. RT_QUEUE_MAX), `users` of which use devices. Neither they
 * nor the costs change until it is decided. */
void rt_admit_begin(struct rt_admit *test, const struct rt_demand *apps, unsigned count,
                    unsigned users, const struct rt_costs *costs);

/* One step; no effect once the test is decided. */
enum rt_verdict rt_admit_step(struct rt_admit *test);

#endif
