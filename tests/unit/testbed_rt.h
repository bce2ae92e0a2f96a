/* SPDX-License-Identifier: Apache-2.0 */
/* RT apps in the testbed: images that allow them, their hypercalls, and jobs of given lengths. */
#ifndef TESTBED_RT_H
#define TESTBED_RT_H

#include "testbed.h"

/* Allows VM `vm` `rt_apps` apps in an image of testbed_image_make(); bit n of `launchers`: VM n may
 * launch them. Seals the image. */
void testbed_image_rt(struct testbed_image *image, unsigned vm, unsigned rt_apps,
                      unsigned launchers);

/* Limits of the VM's apps, by default none: bit n of `harts` for hart n; percent; microseconds.
 * Seals the image. */
void testbed_image_rt_limits(struct testbed_image *image, unsigned vm, unsigned harts,
                             unsigned share_max, unsigned budget_max_us, unsigned period_max_us);

/* Reserve of best effort, by default none: `reserve_us` in any interval of `late_us`. Seals the
 * image. */
void testbed_image_reserve(struct testbed_image *image, unsigned reserve_us, unsigned late_us);

/* Costs for admission in nanoseconds: a release, a job's share of its switches, and the longest
 * non-preemptible section. Seals the image. */
void testbed_image_rt_costs(struct testbed_image *image, unsigned release_ns, unsigned switch_ns,
                            unsigned blocked_ns);

/* Devices TESTBED_DEVICE_FIRST .. TESTBED_DEVICE_FIRST + TESTBED_DEVICES - 1 of every VM: each
 * answers `answer`, an enum resource_answer, and these times of struct resource_wait. None of them
 * exists after a boot. */
#define TESTBED_DEVICE_FIRST 28U
#define TESTBED_DEVICES 4U
void testbed_rt_device(unsigned device, unsigned answer, ticks_t longest, ticks_t kept,
                       bool direct);

/* testbed_hypercall(), repeated while the answer is HCALL_AGAIN. */
long testbed_hypercall_decided(unsigned cpu, ulong number, ulong a0, ulong a1, ulong a2,
                               uint64_t *value);

/* Sets the job lengths of `app`, which must be active and not yet released: job k ends after
 * ticks[k % count] of CPU time, or never if that is 0; the next job is job 0. At most TESTBED_JOBS
 * lengths. */
#define TESTBED_JOBS 32U
void testbed_rt_jobs(unsigned vm, unsigned app, const uint32_t *ticks, unsigned count);

/* An interval in which a job ran without interruption. */
struct testbed_segment {
    uint32_t cpu, vm, app, job;
    uint32_t ended; /* the job ended with it */
    uint32_t reserved;
    uint64_t start, end;
};

/*
 * Advances the time to `until` from event to event. Apps execute their jobs; all other VCPUs
 * compute. Appends segments to log[0 .. max-1], unless log is NULL, and stores their number in
 * *used. After every event, compares the releases with first + k * period and, if `check` is true,
 * checks all invariants. Returns NULL or the violated invariant.
 */
const char *testbed_rt_run(ticks_t until, bool check, struct testbed_segment *log, unsigned max,
                           unsigned *used);

/* Starts counting how many apps of VM `vm` are deleted between two polling points. Every second one
 * of the first polling points finds an interrupt without a cause. */
void testbed_rt_count_deletions(unsigned vm);

/* The maximum number of apps deleted between two polling points; ends the counting. */
unsigned testbed_rt_max_deletions(void);

/* Ends the current job of the app that runs on `cpu`. */
long testbed_end_job(unsigned cpu);

/* Whether `v` is the VCPU of an app whose jobs end. */
bool testbed_rt_keeps_budget(const struct vcpu *v);

/* The first violated invariant of RT apps; called by testbed_violation() and
 * testbed_idle_violation(). */
const char *testbed_rt_violation(void);
const char *testbed_rt_idle_violation(void);

/* Queries: enum rt_state of an app, the number of apps ready on a CPU, an app's remaining budget in
 * ticks. */
unsigned testbed_rt_state(unsigned vm, unsigned app);
unsigned testbed_rt_ready(unsigned cpu);
int64_t testbed_rt_left(unsigned vm, unsigned app);

#endif
