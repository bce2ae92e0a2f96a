/* SPDX-License-Identifier: Apache-2.0 */
/* RT apps in a world: images that have them, their hypercalls, and guests that run jobs of known lengths. */
#ifndef TESTBED_RT_H
#define TESTBED_RT_H

#include "testbed.h"

/* Of an image that testbed_image_make() has made; seals it. `launchers`: bit n: VM n may launch the VM's apps. */
void testbed_image_rt(struct testbed_image *image, unsigned vm, unsigned rt_apps, unsigned launchers);

/* What the VM's apps may have, without which it is all there is: bit n of `harts`: hart n; percent; microseconds. Seals the
 * image. */
void testbed_image_rt_limits(struct testbed_image *image, unsigned vm, unsigned harts, unsigned share_max,
                             unsigned budget_max_us, unsigned period_max_us);

/* What apps leave to best effort, without which it is nothing: so many microseconds in any interval of `late_us`. Seals the
 * image. */
void testbed_image_reserve(struct testbed_image *image, unsigned reserve_us, unsigned late_us);

/* What admission counts: a release, a job's share of its switches, how long a CPU may not look at interrupts; nanoseconds.
 * Seals the image. */
void testbed_image_rt_costs(struct testbed_image *image, unsigned release_ns, unsigned switch_ns, unsigned blocked_ns);

/* testbed_hypercall() again and again as long as the answer is HCALL_AGAIN. */
long testbed_hypercall_decided(unsigned cpu, ulong number, ulong a0, ulong a1, ulong a2, uint64_t *value);

/* The job that `app`, active and not yet released, begins with is its 0th; job k wants ticks[k % count] of CPU time and
 * then ends, or does not end where that is 0. At most TESTBED_JOBS lengths. */
#define TESTBED_JOBS 32U
void testbed_rt_jobs(unsigned vm, unsigned app, const uint32_t *ticks, unsigned count);

/* A stretch in which a job ran without a break. */
struct testbed_segment {
    uint32_t cpu, vm, app, job;
    uint32_t ended; /* the job ended with it */
    uint32_t reserved;
    uint64_t start, end;
};

/*
 * Time goes on to `until`, from event to event, with all that is due before `until`; every app does its jobs. Whoever
 * else runs burns time. Appends the segments to log[0 .. max-1] (NULL: not wanted); their number goes to *used. After
 * every event the releases are compared with first + k * period, and if `check` is true all is looked at. Returns NULL
 * or what was wrong.
 */
const char *testbed_rt_run(ticks_t until, bool check, struct testbed_segment *log, unsigned max, unsigned *used);

/* From now on it is counted how many apps of VM `vm` go between two looks at interrupts. For a while every other look finds
 * one, of no meaning. */
void testbed_rt_watch(unsigned vm);

/* The most of those that went between two looks. */
unsigned testbed_rt_most_gone(void);

/* The job that the running VCPU of `cpu` has begun has ended. */
long testbed_end_job(unsigned cpu);

/* Is it an app's VCPU whose jobs end? */
bool testbed_rt_keeps_budget(const struct vcpu *v);

/* The first thing wrong with RT apps; called by testbed_wrong() and testbed_wrong_settled(). */
const char *testbed_rt_wrong(void);
const char *testbed_rt_wrong_settled(void);

/* Looking: enum rt_state of an app, how many apps are ready on a CPU, ticks of budget that the app has left. */
unsigned testbed_rt_state(unsigned vm, unsigned app);
unsigned testbed_rt_ready(unsigned cpu);
int64_t testbed_rt_left(unsigned vm, unsigned app);

#endif
