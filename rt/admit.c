/* SPDX-License-Identifier: Apache-2.0 */
#include "rt_admit.h"

/* Intervals longer than this (14,000 years at 10 MHz) are not looked at: products below stay inside 64 bits. */
#define LONGEST (UINT64_C(1) << 62)

void rt_admit_begin(struct rt_admit *test, const struct rt_demand *apps, unsigned count, const struct rt_costs *costs)
{
    *test = (struct rt_admit){.apps = apps, .costs = costs, .count = count};
}

#define DIGIT_BITS 18U
#define SHARE_DIGITS 3U
#define WHOLE (UINT64_C(1) << (SHARE_DIGITS * DIGIT_BITS))

/* a * b + c, at most LONGEST. */
static ticks_t bounded(ticks_t a, ticks_t b, ticks_t c)
{
    ticks_t product;

    if (__builtin_mul_overflow(a, b, &product) || product >= LONGEST - c) {
        return LONGEST;
    }
    return product + c;
}

/* cost / period in units of 1 / WHOLE, rounded down; something above WHOLE if it is over 1. */
static uint64_t utilization(const struct rt_demand *d)
{
    uint64_t share = d->cost / d->period, rest = d->cost % d->period;

    for (unsigned digit = 0; digit < SHARE_DIGITS; digit++) { /* long division, base 2^18 */
        rest <<= DIGIT_BITS;
        share = share << DIGIT_BITS | rest / d->period;
        rest %= d->period;
    }
    return d->cost > d->period ? WHOLE + 1 : share;
}

/* For a period, at most 2^45, as `b`: 67 turns at most. */
static ticks_t greatest_common_divisor(ticks_t a, ticks_t b)
{
    while (b != 0) {
        ticks_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* With it, what is released in `at` ticks after a common release, to be done whenever. */
static ticks_t released(const struct rt_admit *test, const struct rt_demand *d)
{
    return bounded((test->at + d->period - 1) / d->period, d->cost, test->sum);
}

/* With it, what has to be done in `at` ticks after a common release: the jobs with release and deadline in it, what
 * nobody looks at interrupts for (whoever ran before, and each app but the one that waits, at the end of its budget), and
 * the releases of jobs whose deadlines come later. */
static ticks_t demanded(const struct rt_admit *test, const struct rt_demand *d)
{
    ticks_t sum = test->sum, jobs = test->at >= d->deadline ? (test->at - d->deadline) / d->period + 1 : 0;

    if (jobs != 0) {
        sum = bounded(jobs, d->cost, bounded(1, test->costs->blocked, sum));
    }
    return bounded((test->at + d->period - 1) / d->period - jobs, test->costs->release, sum);
}

/* The last deadline before `at`, its own or another's before; 0 if there is none. */
static ticks_t deadline_before(const struct rt_admit *test, const struct rt_demand *d)
{
    ticks_t last = test->sum;

    if (d->deadline < test->at) {
        ticks_t own = (test->at - 1 - d->deadline) / d->period * d->period + d->deadline;

        last = own > last ? own : last;
    }
    return last;
}

static enum rt_verdict go_on(struct rt_admit *test, enum rt_admit_phase phase, ticks_t at)
{
    test->phase = phase;
    test->at = at;
    return RT_UNDECIDED;
}

/* The utilization is known. */
static enum rt_verdict go_on_to_intervals(struct rt_admit *test)
{
    return go_on(test, test->costs->late != 0 ? RT_ADMIT_RESERVE : RT_ADMIT_BUSY, 1);
}

/* Over 1, or under it by more than what was rounded away, or to be looked at closely. */
static enum rt_verdict end_utilization(struct rt_admit *test, uint64_t sum)
{
    if (sum > WHOLE) {
        return RT_REFUSED;
    }
    return WHOLE - sum < test->count ? go_on(test, RT_ADMIT_COMMON, 1) : go_on_to_intervals(test);
}

/*
 * The utilization once more, exactly, by the work of a common multiple of all periods. If it is 1, the demand grows by
 * that multiple from one such interval to the next, so that the first is enough to look at; with `blocked` its last
 * deadline refuses, where the busy period would never end. A multiple too long for our numbers tells nothing.
 */
static enum rt_verdict end_common(struct rt_admit *test, ticks_t common)
{
    return common < LONGEST ? go_on(test, RT_ADMIT_WORK, common) : go_on_to_intervals(test);
}

static enum rt_verdict end_work(struct rt_admit *test, ticks_t work)
{
    ticks_t common = test->at;

    if (work > common) {
        test->at = 0;
        return RT_REFUSED;
    }
    return work == common && test->costs->blocked != 0 ? go_on(test, RT_ADMIT_LAST, common + 1)
                                                       : go_on_to_intervals(test);
}

/*
 * The response time of best effort's reserve: the least length that holds it and all that is released in it. Each app may
 * once be in the hypervisor at the end of its budget; what it uses there in one period it lacks in the next.
 */
static enum rt_verdict end_reserve(struct rt_admit *test, ticks_t work)
{
    const struct rt_costs *costs = test->costs;
    ticks_t next = bounded(test->count, costs->blocked, bounded(1, costs->reserve, work));

    if (next > costs->late) {
        test->at = next;
        return RT_STARVES;
    }
    return next == test->at ? go_on(test, RT_ADMIT_BUSY, 1) : go_on(test, RT_ADMIT_RESERVE, next);
}

/* The synchronous busy period: the least length in which all is done that is released in it. */
static enum rt_verdict end_busy(struct rt_admit *test, ticks_t work)
{
    ticks_t next = bounded(test->count, test->costs->blocked, work);

    if (next >= LONGEST) {
        return RT_GAVE_UP;
    }
    return next == test->at ? go_on(test, RT_ADMIT_LAST, next + 1) : go_on(test, RT_ADMIT_BUSY, next);
}

/* QPA: every deadline below `at` that could be missed is passed on the way down. */
static enum rt_verdict end_last(struct rt_admit *test, ticks_t last)
{
    go_on(test, RT_ADMIT_DEMAND, last);
    return last == 0 ? RT_ADMITTED : RT_UNDECIDED;
}

static enum rt_verdict end_demand(struct rt_admit *test, ticks_t demand)
{
    test->demand = demand;
    if (demand > test->at) {
        return RT_REFUSED;
    }
    return go_on(test, RT_ADMIT_LAST, demand < test->at ? demand + 1 : test->at);
}

/* One app of a pass: what its sum is with it. */
static uint64_t pass_app(const struct rt_admit *test, const struct rt_demand *d)
{
    switch (test->phase) {
    case RT_ADMIT_UTILIZATION:
        return test->sum + utilization(d); /* of 64 apps at most: it stays inside 64 bits */
    case RT_ADMIT_COMMON:
        return test->sum == 0 ? d->period
                              : bounded(test->sum / greatest_common_divisor(test->sum, d->period), d->period, 0);
    case RT_ADMIT_LAST:
        return deadline_before(test, d);
    case RT_ADMIT_DEMAND:
        return demanded(test, d);
    case RT_ADMIT_WORK:
    case RT_ADMIT_RESERVE:
    case RT_ADMIT_BUSY:
    default:
        return released(test, d);
    }
}

/* All apps are met. */
static enum rt_verdict pass_end(struct rt_admit *test, uint64_t sum)
{
    switch (test->phase) {
    case RT_ADMIT_UTILIZATION:
        return end_utilization(test, sum);
    case RT_ADMIT_COMMON:
        return end_common(test, sum);
    case RT_ADMIT_WORK:
        return end_work(test, sum);
    case RT_ADMIT_RESERVE:
        return end_reserve(test, sum);
    case RT_ADMIT_BUSY:
        return end_busy(test, sum);
    case RT_ADMIT_LAST:
        return end_last(test, sum);
    case RT_ADMIT_DEMAND:
    default:
        return end_demand(test, sum);
    }
}

/* A greatest common divisor takes as long as several apps of the other passes. */
static unsigned apps_a_step(const struct rt_admit *test)
{
    return test->phase == RT_ADMIT_COMMON ? 1 : RT_ADMIT_APPS;
}

static enum rt_verdict step(struct rt_admit *test)
{
    uint64_t sum;

    if (test->met == 0 && test->passes++ == RT_ADMIT_PASSES) {
        return RT_GAVE_UP;
    }
    for (unsigned n = apps_a_step(test); n > 0 && test->met < test->count; n--) {
        test->sum = pass_app(test, &test->apps[test->met++]);
    }
    if (test->met < test->count) {
        return RT_UNDECIDED;
    }
    sum = test->sum;
    test->met = 0;
    test->sum = 0;
    return pass_end(test, sum);
}

enum rt_verdict rt_admit_step(struct rt_admit *test)
{
    if (test->verdict == RT_UNDECIDED) {
        test->verdict = step(test);
    }
    return test->verdict;
}
