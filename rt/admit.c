/* SPDX-License-Identifier: Apache-2.0 */
/* The admission test of rt_admit.h, in steps of bounded length. Pure: it reads the demands and
 * costs of the caller, who holds sched_lock during a step, and owns no state but struct
 * rt_admit. */
#include "rt_admit.h"

/* Longest interval that is tested (14,000 years at 10 MHz), so that products fit 64 bits. */
#define LONGEST (UINT64_C(1) << 62)

void rt_admit_begin(struct rt_admit *test, const struct rt_demand *apps, unsigned count,
                    unsigned users, const struct rt_costs *costs)
{
    *test = (struct rt_admit){
        .apps = apps, .costs = costs, .count = (uint8_t)count, .users = (uint8_t)users};
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

/* cost / period in units of 1 / WHOLE, rounded down; a value above WHOLE if it is over 1. */
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

/* The sum plus the utilization of `d`; of at most 64 apps, so it fits 64 bits. */
static uint64_t utilized(const struct rt_admit *test, const struct rt_demand *d)
{
    return test->sum + utilization(d);
}

/* With a period, at most 2^45, as `b`: at most 67 iterations. */
static ticks_t greatest_common_divisor(ticks_t a, ticks_t b)
{
    while (b != 0) {
        ticks_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* Of the sum, unless it is 0, and the period of `d`. */
static ticks_t common_multiple(const struct rt_admit *test, const struct rt_demand *d)
{
    return test->sum == 0
               ? d->period
               : bounded(test->sum / greatest_common_divisor(test->sum, d->period), d->period, 0);
}

/* The sum plus the work of the jobs that `d` releases within `at` ticks of a common release. */
static ticks_t released(const struct rt_admit *test, const struct rt_demand *d)
{
    return bounded((test->at + d->period - 1) / d->period, d->cost, test->sum);
}

/* The sum plus the demand of `d` within `at` ticks of a common release: its jobs with release and
 * deadline in that interval, the non-preemptible time (of the VCPU that ran before, and of each
 * other app at the end of its budget), and the releases of its jobs with later deadlines. */
static ticks_t demanded(const struct rt_admit *test, const struct rt_demand *d)
{
    ticks_t sum = test->sum,
            jobs = test->at >= d->deadline ? (test->at - d->deadline) / d->period + 1 : 0;

    if (jobs != 0) {
        sum = bounded(jobs, d->cost, bounded(1, test->costs->blocked, sum));
    }
    return bounded((test->at + d->period - 1) / d->period - jobs, test->costs->release, sum);
}

/* The last deadline before `at` of `d` and of the apps before it in this pass; 0 if there is
 * none. */
static ticks_t deadline_before(const struct rt_admit *test, const struct rt_demand *d)
{
    ticks_t last = test->sum;

    if (d->deadline < test->at) {
        ticks_t own = (test->at - 1 - d->deadline) / d->period * d->period + d->deadline;

        last = own > last ? own : last;
    }
    return last;
}

static enum rt_verdict next_phase(struct rt_admit *test, enum rt_admit_phase phase, ticks_t at)
{
    test->phase = phase;
    test->at = at;
    return RT_UNDECIDED;
}

/* The utilization is at most 1: tests the intervals. */
static enum rt_verdict begin_intervals(struct rt_admit *test)
{
    return next_phase(test, test->costs->late != 0 ? RT_ADMIT_RESERVE : RT_ADMIT_BUSY, 1);
}

/* Over 1; under 1 by more than the rounding errors; or too close to 1 to decide without exact
 * arithmetic. */
static enum rt_verdict finish_utilization(struct rt_admit *test, uint64_t sum)
{
    if (sum > WHOLE) {
        return RT_REFUSED;
    }
    return WHOLE - sum < test->count ? next_phase(test, RT_ADMIT_COMMON, 1) : begin_intervals(test);
}

/*
 * The exact utilization, from the work within a common multiple of all periods. If it is 1, the
 * demand grows by that multiple from one such interval to the next, so that testing the first is
 * enough; with `blocked` its last deadline refuses, where the busy period would never end. A common
 * multiple that overflows decides nothing.
 */
static enum rt_verdict finish_lcm(struct rt_admit *test, ticks_t common)
{
    return common < LONGEST ? next_phase(test, RT_ADMIT_WORK, common) : begin_intervals(test);
}

static enum rt_verdict finish_work(struct rt_admit *test, ticks_t work)
{
    ticks_t common = test->at;

    if (work > common) {
        test->at = 0;
        return RT_REFUSED;
    }
    return work == common && test->costs->blocked != 0 ? next_phase(test, RT_ADMIT_LAST, common + 1)
                                                       : begin_intervals(test);
}

/*
 * The response time of best effort's reserve: the least interval that holds the reserve and all
 * jobs released in it. Each app may exceed its budget once by a non-preemptible section; the excess
 * is charged to its next period.
 */
static enum rt_verdict finish_reserve(struct rt_admit *test, ticks_t work)
{
    const struct rt_costs *costs = test->costs;
    ticks_t next = bounded(test->count, costs->blocked, bounded(1, costs->reserve, work));

    if (next > costs->late) {
        test->at = next;
        return RT_STARVES;
    }
    return next == test->at ? next_phase(test, RT_ADMIT_BUSY, 1)
                            : next_phase(test, RT_ADMIT_RESERVE, next);
}

/* The synchronous busy period: the least interval in which all jobs released in it complete. */
static enum rt_verdict finish_busy(struct rt_admit *test, ticks_t work)
{
    ticks_t next = bounded(test->count, test->costs->blocked, work);

    if (next >= LONGEST) {
        return RT_GAVE_UP;
    }
    return next == test->at ? next_phase(test, RT_ADMIT_LAST, next + 1)
                            : next_phase(test, RT_ADMIT_BUSY, next);
}

/* All deadlines hold: tests the delays of devices, if an app uses one. */
static enum rt_verdict begin_delays(struct rt_admit *test)
{
    return test->users != 0 ? next_phase(test, RT_ADMIT_USER, 0) : RT_ADMITTED;
}

/* QPA visits every deadline below `at` that could be missed, in descending order. */
static enum rt_verdict finish_last(struct rt_admit *test, ticks_t last)
{
    next_phase(test, RT_ADMIT_DEMAND, last);
    return last == 0 ? begin_delays(test) : RT_UNDECIDED;
}

static enum rt_verdict finish_demand(struct rt_admit *test, ticks_t demand)
{
    test->demand = demand;
    if (demand > test->at) {
        return RT_REFUSED;
    }
    return next_phase(test, RT_ADMIT_LAST, demand < test->at ? demand + 1 : test->at);
}

/* Longest time from the deadline of a job to the release of the next one. */
static ticks_t slack(const struct rt_demand *d)
{
    return d->period - d->deadline;
}

/* The sum, or 1 + the index of `d` if it is the first from `user` on that uses a device. */
static uint64_t first_user(const struct rt_admit *test, const struct rt_demand *d)
{
    unsigned index = (unsigned)(d - test->apps);

    return test->sum == 0 && index >= test->user && d->wait != 0 ? index + 1U : test->sum;
}

static enum rt_verdict finish_user(struct rt_admit *test, uint64_t found)
{
    if (found == 0) {
        return RT_ADMITTED;
    }
    test->user = (uint8_t)(found - 1U);
    return next_phase(test, RT_ADMIT_DELAY, test->apps[test->user].wait);
}

/* The sum plus the work of the jobs of `d` that are there in `at` ticks from any moment. */
static ticks_t interfering(const struct rt_admit *test, const struct rt_demand *d)
{
    return bounded((test->at + d->deadline + d->period - 1) / d->period, d->cost, test->sum);
}

/* The least fixed point, also if it is too long: it is reported. */
static enum rt_verdict finish_delay(struct rt_admit *test, ticks_t work)
{
    const struct rt_demand *d = &test->apps[test->user];
    ticks_t next = bounded(1, d->wait, bounded(test->count, test->costs->blocked, work));

    if (next >= LONGEST) {
        return RT_GAVE_UP;
    }
    if (next != test->at) {
        return next_phase(test, RT_ADMIT_DELAY, next);
    }
    if (next > slack(d)) {
        return RT_DELAYED;
    }
    test->user++;
    return next_phase(test, RT_ADMIT_USER, 0);
}

/* A phase is passes over all apps: `pass` returns the sum with one app more, `finish` what the sum
 * of all apps decides. */
struct phase {
    uint64_t (*pass)(const struct rt_admit *test, const struct rt_demand *d);
    enum rt_verdict (*finish)(struct rt_admit *test, uint64_t sum);
};

static const struct phase phases[] = {
    [RT_ADMIT_UTILIZATION] = {utilized, finish_utilization},
    [RT_ADMIT_COMMON] = {common_multiple, finish_lcm},
    [RT_ADMIT_WORK] = {released, finish_work},
    [RT_ADMIT_RESERVE] = {released, finish_reserve},
    [RT_ADMIT_BUSY] = {released, finish_busy},
    [RT_ADMIT_LAST] = {deadline_before, finish_last},
    [RT_ADMIT_DEMAND] = {demanded, finish_demand},
    [RT_ADMIT_USER] = {first_user, finish_user},
    [RT_ADMIT_DELAY] = {interfering, finish_delay},
};

/* A greatest common divisor takes as long as RT_ADMIT_APPS apps of the other passes. */
static unsigned apps_a_step(const struct rt_admit *test)
{
    return test->phase == RT_ADMIT_COMMON ? 1 : RT_ADMIT_APPS;
}

static enum rt_verdict step(struct rt_admit *test)
{
    uint64_t sum;

    if (test->index == 0) {
        test->passes++;
        if (test->passes > RT_ADMIT_PASSES) {
            return RT_GAVE_UP;
        }
    }
    for (unsigned n = apps_a_step(test); n > 0 && test->index < test->count; n--) {
        test->sum = phases[test->phase].pass(test, &test->apps[test->index++]);
    }
    if (test->index < test->count) {
        return RT_UNDECIDED;
    }
    sum = test->sum;
    test->index = 0;
    test->sum = 0;
    return phases[test->phase].finish(test, sum);
}

enum rt_verdict rt_admit_step(struct rt_admit *test)
{
    if (test->verdict == RT_UNDECIDED) {
        test->verdict = step(test);
    }
    return test->verdict;
}
