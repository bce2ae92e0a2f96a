/* SPDX-License-Identifier: Apache-2.0 */
/* The real-time hypercalls as guests see them: numbers, structures, and the values returned with
 * errors. Parameters are in microseconds, statistics in ticks of `time`. */
#ifndef RT_ABI_H
#define RT_ABI_H

#include "hypercall_abi.h"

/* --- Real-time apps --- */
/* For the guest of a VM with `rt-apps` (docs/real-time.md). `rt_strerror()` of the SDK converts
 * errors to text. */

/* (address of struct rt_params, size) -> the app's id, from 0
 * - HCALL_ERR_FAILED: no app slot is free
 * - HCALL_ERR_INVALID_PARAM (0): wrong size
 * - HCALL_ERR_INVALID_PARAM (the field): a time out of range, no such hart
 * - HCALL_ERR_DENIED (0): the VM may have no apps
 * - HCALL_ERR_DENIED (the field): more than `rt-period-max-us` or `rt-budget-max-us`, a hart
 *   outside of `rt-harts`; the console prints the reason
 * - HCALL_ERR_INVALID_ADDRESS (0): the parameters themselves
 * - HCALL_ERR_INVALID_ADDRESS (the field): entry or stack
 *
 * Entry and stack lie in the VM's RAM, the stack is a multiple of 16. The app starts with its id in
 * the first argument register and `arg` in the second, translation off, no trap vector. A refused
 * field is RT_FIELD_*, its position in struct rt_params. */
#define HCALL_RT_CREATE_APP 16
/* (VM, app, first release) -> the first release
 * - HCALL_ERR_FAILED (any other): microseconds: an interval in which the hart's apps would demand
 *   more time than the interval has
 * - HCALL_ERR_INVALID_PARAM: no such VM or app
 * - HCALL_ERR_ALREADY_AVAILABLE: the app is launched already
 * - HCALL_ERR_BAD_RANGE (microseconds): the longest delay of a job on a device, which could last
 *   beyond the next release of its app, this one or an active one
 *
 * Takes an app of the caller's own VM (RT_OWN_VM), or of a VM that names the caller in
 * `rt-launchers`. The first release is in ticks of `time`; 0 or a time in the past means now. The
 * call may take long: admission runs in steps, with interrupts between them, and waits up to the
 * bound of `be-reserve-us` after an app has left the hart; it may wait for apps of another hart
 * (docs/real-time.md#who-runs). The console prints why a launch is refused. */
#define HCALL_RT_LAUNCH_APP 17
/* (app)
 * - HCALL_ERR_INVALID_PARAM
 * - HCALL_ERR_DENIED
 *
 * Removes the app in any state (RT_SELF: the caller; the call does not return); it may wait for a
 * release on another hart. */
#define HCALL_RT_DELETE_APP 18
/* () -> at the app's next release
 * - HCALL_ERR_DENIED: the caller is no app */
#define HCALL_RT_END_JOB 19
/* (app, address of struct rt_stats, size)
 * - HCALL_ERR_INVALID_PARAM
 * - HCALL_ERR_DENIED
 * - HCALL_ERR_INVALID_ADDRESS */
#define HCALL_RT_GET_STATS 20
/* (app, device, us) -> microseconds from the first write of a job until it is over, at most; the
 * delay by apps aside
 * - HCALL_ERR_FAILED: the device has failed
 * - HCALL_ERR_ALREADY_AVAILABLE: an app of the VM has declared the device
 * - HCALL_ERR_INVALID_STATE: the app is launched
 * - HCALL_ERR_BAD_RANGE (microseconds): the longest time of a request to a shared device, longer
 *   than from the app's deadline to its next release
 *
 * Declares, between CREATE_APP and LAUNCH_APP, that the app starts at most one job in each period
 * on the accelerator with this number, or on shared device n (RT_SHARED_DEVICE + n), and that a job
 * takes at most so many microseconds (1 to 2^31-1) there, with its data, once a region is connected
 * (docs/real-time.md#devices). A device has one app; an app may have several devices. The
 * declaration ends with the app. */
#define HCALL_RT_USE_DEVICE 21

/* --- Values of these calls --- */
/* HCALL_RT_USE_DEVICE: plus the number of a device that the hardware shares (docs/hardware-io.md),
 * of which a job is one request. */
#define RT_SHARED_DEVICE 16UL

#define RT_OWN_VM (~0UL)
#define RT_SELF (~0UL)

/* The field of struct rt_params that HCALL_RT_CREATE_APP has refused, by its position. */
#define RT_FIELD_NONE 0UL
#define RT_FIELD_ENTRY 1UL
#define RT_FIELD_STACK 2UL
#define RT_FIELD_PERIOD 4UL
#define RT_FIELD_BUDGET 5UL
#define RT_FIELD_DEADLINE 6UL
#define RT_FIELD_CPU 7UL

/* Values with HCALL_ERR_INVALID_PARAM of HCALL_RT_USE_DEVICE. */
#define RT_USE_APP 0UL    /* no such app */
#define RT_USE_DEVICE 1UL /* the VM has no such device */
#define RT_USE_TIME 2UL   /* time out of range */

/* Values with HCALL_ERR_DENIED of HCALL_RT_USE_DEVICE. */
#define RT_USE_NO_APPS 0UL /* the VM may have no apps */
#define RT_USE_HARTS 1UL   /* an accelerator in a system with several harts */
#define RT_USE_NATIVE 2UL  /* the device has the native model, whose first write blocks the app */
/* other VMs may use the accelerator's regions, or the shared device, for any time; the console
 * prints which */
#define RT_USE_SHARED 3UL
/* `hold-us` is shorter than the time from the app's deadline to its next release */
#define RT_USE_HOLD 4UL

/* Values with HCALL_ERR_FAILED of HCALL_RT_LAUNCH_APP. */
#define RT_REFUSED_UTILIZATION 0UL /* the apps would use more than 100 % of the hart */
/* best effort would get its reserve later than `be-reserve-us` allows */
#define RT_REFUSED_RESERVE (~0UL - 1)
#define RT_REFUSED_UNDECIDED (~0UL) /* not decided within 40,000 passes over the apps */

/* Values with HCALL_ERR_DENIED of HCALL_RT_LAUNCH_APP. */
#define RT_DENIED_CALLER 0UL /* `rt-launchers` does not name the caller */
#define RT_DENIED_SHARE 1UL  /* the VM's apps would have more of the hart than `rt-share-max` */

#ifndef __ASSEMBLER__
#include <stdint.h>

/* Parameters of an RT app: the entry point of its RT-VCPU, and its timing. Every field is
   checked; times in microseconds. */
struct rt_params {
    uint64_t entry;       /* guest-physical address of the first instruction of its first job */
    uint64_t stack;       /* its stack pointer there */
    uint64_t arg;         /* second argument of the entry point; the first is the app's id */
    uint32_t period_us;   /* 1 .. 2^31-1 */
    uint32_t budget_us;   /* 1 .. deadline_us: CPU time per period */
    uint32_t deadline_us; /* 1 .. period_us, from the release */
    uint32_t cpu;         /* hart of the system that it is pinned to, from 0 */
};

/* Statistics since the launch. Response time: from a job's release to its end, in ticks of
 * `time`. */
struct rt_stats {
    uint64_t releases;    /* jobs released */
    uint64_t completions; /* jobs ended */
    uint64_t misses;      /* jobs that had not ended at their deadline */
    uint64_t overruns;    /* periods in which the budget was used up before the job ended */
    uint64_t response_min, response_max, response_sum;
    uint64_t runtime; /* CPU time used, ticks */
};

#endif
#endif
