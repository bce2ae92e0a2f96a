/* SPDX-License-Identifier: Apache-2.0 */
#include "rt_admit.h"

/* Intervals longer than this (14,000 years at 10 MHz) are not looked at: products below stay inside 64 bits. */
#define LONGEST (UINT64_C(1) << 62)

void rt_admit_begin(struct rt_admit *test, const struct rt_demand *apps, unsigned count, ticks_t blocked,
                    ticks_t release)
{
    *test = (struct rt_admit){.apps = apps, .count = count, .blocked = blocked, .release = release};
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

/* The sum of cost / period in units of 1 / WHOLE, each rounded down; something above WHOLE if it is over 1. */
static uint64_t utilization(const struct rt_admit *test)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < test->count && sum <= WHOLE; i++) {
        const struct rt_demand *d = &test->apps[i];
        uint64_t share = d->cost / d->period, rest = d->cost % d->period;

        for (unsigned digit = 0; digit < SHARE_DIGITS; digit++) { /* long division, base 2^18 */
            rest <<= DIGIT_BITS;
            share = share << DIGIT_BITS | rest / d->period;
            rest %= d->period;
        }
        sum += d->cost > d->period ? WHOLE + 1 : share;
    }
    return sum;
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

/* What is released in `length` ticks after a common release, to be done whenever. */
static ticks_t released(const struct rt_admit *test, ticks_t length)
{
    ticks_t sum = 0;

    for (unsigned i = 0; i < test->count; i++) {
        const struct rt_demand *d = &test->apps[i];

        sum = bounded((length + d->period - 1) / d->period, d->cost, sum);
    }
    return sum;
}

/* What has to be done in `length` ticks after a common release: the jobs with release and deadline in it, what nobody
 * looks at interrupts for (whoever ran before, and each app but the one that waits, at the end of its budget), and the
 * releases of jobs whose deadlines come later. */
static ticks_t demanded(const struct rt_admit *test, ticks_t length)
{
    ticks_t sum = 0;

    for (unsigned i = 0; i < test->count; i++) {
        const struct rt_demand *d = &test->apps[i];

        ticks_t jobs = length >= d->deadline ? (length - d->deadline) / d->period + 1 : 0;

        if (jobs != 0) {
            sum = bounded(jobs, d->cost, bounded(1, test->blocked, sum));
        }
        sum = bounded((length + d->period - 1) / d->period - jobs, test->release, sum);
    }
    return sum;
}

/* The last deadline before `end`, 0 if there is none. */
static ticks_t deadline_before(const struct rt_admit *test, ticks_t end)
{
    ticks_t last = 0;

    for (unsigned i = 0; i < test->count; i++) {
        const struct rt_demand *d = &test->apps[i];

        if (d->deadline < end) {
            ticks_t own = (end - 1 - d->deadline) / d->period * d->period + d->deadline;

            last = own > last ? own : last;
        }
    }
    return last;
}

static enum rt_verdict go_on(struct rt_admit *test, enum rt_admit_phase phase, ticks_t at)
{
    test->phase = phase;
    test->at = at;
    return RT_UNDECIDED;
}

/* Over 1, or under it by more than what was rounded away, or to be looked at closely. */
static enum rt_verdict step_utilization(struct rt_admit *test)
{
    uint64_t sum = utilization(test);

    if (sum > WHOLE) {
        return RT_REFUSED;
    }
    return WHOLE - sum < test->count ? go_on(test, RT_ADMIT_COMMON, 1) : go_on(test, RT_ADMIT_BUSY, released(test, 1));
}

/*
 * The utilization once more, exactly, by the work of a common multiple of all periods. If it is 1, the demand grows by
 * that multiple from one such interval to the next, so that the first is enough to look at; with `blocked` its last
 * deadline refuses, where the busy period would never end. A multiple too long for our numbers tells nothing.
 */
static enum rt_verdict step_common(struct rt_admit *test)
{
    ticks_t period = test->apps[test->met++].period;
    ticks_t common = bounded(test->at / greatest_common_divisor(test->at, period), period, 0);
    ticks_t work;

    if (common < LONGEST && test->met < test->count) {
        return go_on(test, RT_ADMIT_COMMON, common);
    }
    work = common < LONGEST ? released(test, common) : 0;
    if (work > common) {
        test->at = 0;
        return RT_REFUSED;
    }
    if (work == common && test->blocked != 0) {
        return go_on(test, RT_ADMIT_DEMAND, deadline_before(test, common + 1));
    }
    return go_on(test, RT_ADMIT_BUSY, released(test, 1));
}

/* The synchronous busy period: the least length in which all is done that is released in it. */
static enum rt_verdict step_busy(struct rt_admit *test)
{
    ticks_t next = bounded(test->count, test->blocked, released(test, test->at));

    if (next >= LONGEST) {
        return RT_GAVE_UP;
    }
    return next == test->at ? go_on(test, RT_ADMIT_DEMAND, deadline_before(test, next + 1))
                            : go_on(test, RT_ADMIT_BUSY, next);
}

/* QPA: every deadline below `at` that could be missed is passed on the way down. */
static enum rt_verdict step_demand(struct rt_admit *test)
{
    if (test->at == 0) {
        return RT_ADMITTED;
    }
    test->demand = demanded(test, test->at);
    if (test->demand > test->at) {
        return RT_REFUSED;
    }
    return go_on(test, RT_ADMIT_DEMAND, deadline_before(test, test->demand < test->at ? test->demand + 1 : test->at));
}

static enum rt_verdict step(struct rt_admit *test)
{
    if (test->steps++ == RT_ADMIT_STEPS) {
        return RT_GAVE_UP;
    }
    switch (test->phase) {
    case RT_ADMIT_UTILIZATION:
        return step_utilization(test);
    case RT_ADMIT_COMMON:
        return step_common(test);
    case RT_ADMIT_BUSY:
        return step_busy(test);
    case RT_ADMIT_DEMAND:
    default:
        return step_demand(test);
    }
}

enum rt_verdict rt_admit_step(struct rt_admit *test)
{
    if (test->verdict == RT_UNDECIDED) {
        test->verdict = step(test);
    }
    return test->verdict;
}
