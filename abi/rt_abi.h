/* SPDX-License-Identifier: Apache-2.0 */
/* The real-time hypercalls as guests see them: numbers, structures, and the values returned with
 * errors. Parameters are in microseconds, statistics in ticks of `time`. docs/hypercalls.md is the
 * reference. */
#ifndef RT_ABI_H
#define RT_ABI_H

#include "hypercall_abi.h"

#define HCALL_RT_CREATE_APP 16 /* (gpa of struct rt_params, its size) -> app id */
/* (VM id or RT_OWN_VM, app id, first release) -> that release, or why refused */
#define HCALL_RT_LAUNCH_APP 17
#define HCALL_RT_DELETE_APP 18 /* (app id, RT_SELF: the caller) */
#define HCALL_RT_END_JOB 19    /* () returns at the app's next release */
#define HCALL_RT_GET_STATS 20  /* (app id, gpa of struct rt_stats, its size) */
/* (app id, device, longest job on it in us) -> us from its first write to its end */
#define HCALL_RT_USE_DEVICE 21

/* HCALL_RT_USE_DEVICE: the VM's accelerator of this number, or RT_SHARED_DEVICE + the number of a
 * device that the hardware shares (docs/hardware-io.md). A job on the latter is one request. With
 * HCALL_ERR_BAD_RANGE, which it alone returns, the value is the longest time of the request, in us:
 * longer than the time from the app's deadline to its next release. */
#define RT_SHARED_DEVICE 16UL

#define RT_OWN_VM (~0UL)
#define RT_SELF (~0UL)

/* Value returned with an error of HCALL_RT_CREATE_APP: the field of struct rt_params that is
 * refused, by its position. */
#define RT_FIELD_NONE 0UL
#define RT_FIELD_ENTRY 1UL
#define RT_FIELD_STACK 2UL
#define RT_FIELD_PERIOD 4UL
#define RT_FIELD_BUDGET 5UL
#define RT_FIELD_DEADLINE 6UL
#define RT_FIELD_CPU 7UL

/* Values returned with HCALL_ERR_INVALID_PARAM of HCALL_RT_USE_DEVICE. */
#define RT_USE_APP 0UL    /* no such app */
#define RT_USE_DEVICE 1UL /* the VM has no such device */
#define RT_USE_TIME 2UL   /* the time is not 1 .. 2^31-1 */

/* Values returned with HCALL_ERR_DENIED of HCALL_RT_USE_DEVICE. */
#define RT_USE_NO_APPS 0UL /* the VM may have no apps */
#define RT_USE_HARTS 1UL   /* the system uses several harts */
#define RT_USE_NATIVE 2UL  /* the device has the native model, which blocks the app */
/* other VMs may use its regions, or the shared device, for any time; a line on the console tells
 * why */
#define RT_USE_SHARED 3UL
/* `hold-us` is shorter than the time from the app's deadline to its next release */
#define RT_USE_HOLD 4UL

/* Values returned with HCALL_ERR_FAILED of a refused launch. Any other value is the interval, in
 * us, in which the demand of the CPU's apps would exceed the time. With HCALL_ERR_BAD_RANGE the
 * value is the longest delay, in us, of a job on a device that an app has declared: longer than the
 * time from its deadline to its next release. */
#define RT_REFUSED_UTILIZATION 0UL    /* utilization over 1 */
#define RT_REFUSED_RESERVE (~0UL - 1) /* best effort would get its reserve too late */
#define RT_REFUSED_UNDECIDED (~0UL)

/* Values returned with HCALL_ERR_DENIED of a refused launch. */
#define RT_DENIED_CALLER 0UL /* `rt-launchers` of the app's VM does not name the caller */
/* the share of the VM's apps in the CPU would exceed `rt-share-max` */
#define RT_DENIED_SHARE 1UL

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
