/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Real-time apps, for the real-time manager: the guest of a VM with `rt-apps`. Each app is a
 * virtual CPU of this VM that the hypervisor schedules by EDF. All apps share the VM's memory, code
 * and libraries, and run with address translation off. docs/hypercalls.md has the errors.
 */
#ifndef GUEST_RT_H
#define GUEST_RT_H

#include <stdint.h>

#include "hcall.h"

#define RT_OWN_VM (~0UL)
#define RT_SELF (~0UL)

/**
 * Parameters of HCALL_RT_CREATE_APP. Times in microseconds: 1 <= budget <= deadline <= period <
 * 2^31. Entry and stack are guest-physical (hcall_address()).
 */
struct rt_params {
    uint64_t entry; /* first instruction; rt_task_entry for a struct rt_task */
    uint64_t stack; /* initial stack pointer, 16-byte aligned */
    uint64_t arg;   /* in a1; a0 is the app's id */
    uint32_t period_us;
    uint32_t budget_us;
    uint32_t deadline_us;
    uint32_t cpu; /* hart of the system that the app is pinned to, from 0 */
};

/**
 * Value returned with an error of rt_create_app(): the refused field of struct rt_params; 0: none.
 */
#define RT_FIELD_ENTRY 1
#define RT_FIELD_STACK 2
#define RT_FIELD_PERIOD 4
#define RT_FIELD_BUDGET 5
#define RT_FIELD_DEADLINE 6
#define RT_FIELD_CPU 7

/**
 * Value returned with SBI_ERR_FAILED of rt_launch_app(). Any other value is an interval in
 * microseconds whose demand by the hart's apps would exceed its length.
 */
#define RT_REFUSED_UTILIZATION 0 /* the utilization of the hart would exceed 1 */
#define RT_REFUSED_RESERVE (-2)  /* best effort would receive its reserve too late */
#define RT_REFUSED_UNDECIDED (-1)

/**
 * Value returned with SBI_ERR_DENIED (-4) of rt_launch_app(): the share of the VM's apps on the
 * hart would exceed `rt-share-max`. Any other value: the caller is not in `rt-launchers`.
 */
#define RT_DENIED_SHARE 1

/** Statistics of HCALL_RT_GET_STATS, since the launch. Response and run time in ticks of `time`. */
struct rt_stats {
    uint64_t releases, completions, misses, overruns;
    uint64_t response_min, response_max, response_sum;
    uint64_t runtime;
};

/** A job, called once per period on its own stack. */
struct rt_task {
    void (*job)(void *argument);
    void *argument;
};

/** Entry of an app whose `arg` is a struct rt_task: at each release, calls the job and ends it. */
void rt_task_entry(void);

/** Creates an inactive app; value: its id, from 0, or the refused field (RT_FIELD_*). */
struct sbi_ret rt_create_app(const struct rt_params *params);

/**
 * Launches app `app` of VM `vm` (RT_OWN_VM: the caller's). `first` is its first release in ticks of
 * `time`; 0 or a past time: now. Value: the first release, or the reason of a refusal
 * (RT_REFUSED_*, RT_DENIED_*).
 */
struct sbi_ret rt_launch_app(unsigned long vm, unsigned long app, uint64_t first);

/** Deletes an app. RT_SELF: the calling app; then the call does not return. */
struct sbi_ret rt_delete_app(unsigned long app);

/** Ends the calling app's job; returns at its next release. */
void rt_end_job(void);

struct sbi_ret rt_get_stats(unsigned long app, struct rt_stats *stats);

/**
 * The reason why hypercall `call` (HCALL_RT_*) returned `ret`: a phrase that names the parameter or
 * the property of the system file.
 */
const char *rt_strerror(unsigned long call, struct sbi_ret ret);

#endif
