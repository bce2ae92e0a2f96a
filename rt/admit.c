/* SPDX-License-Identifier: Apache-2.0 */
#include "rt_admit.h"

/* Intervals longer than this (14,000 years at 10 MHz) are not looked at: products below stay inside 64 bits. */
#define LONGEST (UINT64_C(1) << 62)

void rt_admit_begin(struct rt_admit *test, const struct rt_demand *apps, unsigned count, ticks_t blocked)
{
    *test = (struct rt_admit){.apps = apps, .count = count, .blocked = blocked};
}

#define DIGIT_BITS 18U
#define SHARE_DIGITS 3U

/* a * b + c, at most LONGEST. */
static ticks_t bounded(ticks_t a, ticks_t b, ticks_t c)
{
    ticks_t product;

    if (__builtin_mul_overflow(a, b, &product) || product >= LONGEST - c) {
        return LONGEST;
    }
    return product + c;
}

/*
 * The sum of cost / period against 1, in units of 2^-54, each rounded down: what it refuses is truly over 1. What it lets
 * through although it is over 1, by less than count * 2^-54, has an endless busy period, and so is not admitted either.
 */
static bool overused(const struct rt_admit *test)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < test->count; i++) {
        const struct rt_demand *d = &test->apps[i];
        uint64_t share = d->cost / d->period, rest = d->cost % d->period;

        for (unsigned digit = 0; digit < SHARE_DIGITS; digit++) { /* long division, base 2^18 */
            rest <<= DIGIT_BITS;
            share = share << DIGIT_BITS | rest / d->period;
            rest %= d->period;
        }
        sum += share;
        if (d->cost > d->period || sum > UINT64_C(1) << (SHARE_DIGITS * DIGIT_BITS)) {
            return true;
        }
    }
    return false;
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

/* What has to be done in `length` ticks after a common release: the jobs with release and deadline in it. */
static ticks_t demanded(const struct rt_admit *test, ticks_t length)
{
    ticks_t sum = test->blocked;

    for (unsigned i = 0; i < test->count; i++) {
        const struct rt_demand *d = &test->apps[i];

        if (length >= d->deadline) {
            sum = bounded((length - d->deadline) / d->period + 1, d->cost, sum);
        }
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

static enum rt_verdict step_utilization(struct rt_admit *test)
{
    test->demand = 0;
    if (overused(test)) {
        return RT_REFUSED;
    }
    test->at = released(test, 1);
    test->phase = RT_ADMIT_BUSY;
    return RT_UNDECIDED;
}

/* The synchronous busy period: the least length in which all is done that is released in it. */
static enum rt_verdict step_busy(struct rt_admit *test)
{
    ticks_t next = bounded(1, test->blocked, released(test, test->at));

    if (next >= LONGEST) {
        return RT_GAVE_UP;
    }
    if (next == test->at) {
        test->at = deadline_before(test, next + 1);
        test->phase = RT_ADMIT_DEMAND;
    }
    test->at = test->phase == RT_ADMIT_BUSY ? next : test->at;
    return RT_UNDECIDED;
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
    test->at = deadline_before(test, test->demand < test->at ? test->demand + 1 : test->at);
    return RT_UNDECIDED;
}

enum rt_verdict rt_admit_step(struct rt_admit *test)
{
    if (test->steps++ == RT_ADMIT_STEPS) {
        return RT_GAVE_UP;
    }
    switch (test->phase) {
    case RT_ADMIT_UTILIZATION:
        return step_utilization(test);
    case RT_ADMIT_BUSY:
        return step_busy(test);
    case RT_ADMIT_DEMAND:
    default:
        return step_demand(test);
    }
}
