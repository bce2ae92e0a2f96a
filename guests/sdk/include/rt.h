/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Real-time apps, for the real-time manager: the guest of a VM with `rt-apps`. Each app is a virtual CPU of this VM that
 * the hypervisor schedules by EDF. All apps share the VM's memory, its code and its libraries; translation is off in
 * each, as it is here. docs/hypercalls.md has the errors.
 */
#ifndef GUEST_RT_H
#define GUEST_RT_H

#include <stdint.h>

#include "hcall.h"

#define RT_OWN_VM (~0UL)
#define RT_SELF (~0UL)

/**
 * What HCALL_RT_CREATE_APP reads. Times in microseconds: 1 <= budget <= deadline <= period < 2^31. Entry and stack are
 * guest-physical (hcall_address()).
 */
struct rt_params {
    uint64_t entry; /* first instruction; rt_task_entry for a struct rt_task */
    uint64_t stack; /* stack pointer there, 16-byte aligned */
    uint64_t arg;   /* in a1; a0 is the app's id */
    uint32_t period_us;
    uint32_t budget_us;
    uint32_t deadline_us;
    uint32_t cpu; /* hart of the system that it is pinned to, from 0 */
};

/** Value beside an error of rt_create_app(): which field of struct rt_params is refused; 0: none of these. */
#define RT_FIELD_ENTRY 1
#define RT_FIELD_STACK 2
#define RT_FIELD_PERIOD 4
#define RT_FIELD_BUDGET 5
#define RT_FIELD_DEADLINE 6
#define RT_FIELD_CPU 7

/** Value beside SBI_ERR_FAILED of rt_launch_app(); any other: an interval in microseconds in which the hart's apps would
 * demand more than the interval. */
#define RT_REFUSED_UTILIZATION 0 /* the hart's apps would use more than all of it */
#define RT_REFUSED_RESERVE (-2)  /* best effort would get its reserve too late */
#define RT_REFUSED_UNDECIDED (-1)

/** Value beside SBI_ERR_DENIED (-4) of rt_launch_app(): the VM's apps would have more of the hart than `rt-share-max`; else
 * the caller is not in `rt-launchers`. */
#define RT_DENIED_SHARE 1

/** What HCALL_RT_GET_STATS writes, since the launch. Response and run time in ticks of `time`. */
struct rt_stats {
    uint64_t releases, completions, misses, overruns;
    uint64_t response_min, response_max, response_sum;
    uint64_t runtime;
};

/** A job that is called once a period, on a stack of its own. */
struct rt_task {
    void (*job)(void *argument);
    void *argument;
};

/** Entry of an app whose `arg` is a struct rt_task: calls the job, ends it, waits for the next release, for ever. */
void rt_task_entry(void);

/** Makes an inactive app; value: its id, from 0, or what is refused (RT_FIELD_*). */
struct sbi_ret rt_create_app(const struct rt_params *params);

/**
 * Launches app `app` of VM `vm` (RT_OWN_VM: the caller's) at `first` in ticks of `time`, 0 or past: now; value: its first
 * release, or why it is refused (RT_REFUSED_*, RT_DENIED_*).
 */
struct sbi_ret rt_launch_app(unsigned long vm, unsigned long app, uint64_t first);

/** Deletes an app; RT_SELF: the caller, which does not come back. */
struct sbi_ret rt_delete_app(unsigned long app);

/** The calling app's job is done; returns at its next release. */
void rt_end_job(void);

struct sbi_ret rt_get_stats(unsigned long app, struct rt_stats *stats);

/**
 * Why the call of this number (HCALL_RT_*) was refused, as far as error and value tell: a phrase that names the parameter or
 * the property of the system file.
 */
const char *rt_strerror(unsigned long call, struct sbi_ret ret);

#endif
