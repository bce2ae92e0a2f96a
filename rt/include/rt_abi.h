/* SPDX-License-Identifier: Apache-2.0 */
/* The real-time hypercalls as guests see them; docs/hypercalls.md is the reference. */
#ifndef RT_ABI_H
#define RT_ABI_H

#include "types.h"

#define HCALL_RT_CREATE_APP 16U /* (gpa of struct rt_abi_app, its size) -> app id */
#define HCALL_RT_LAUNCH_APP \
    17U /* (VM id or RT_OWN_VM, app id, first release: `time`, 0: now) -> that release, or why refused */
#define HCALL_RT_DELETE_APP 18U /* (app id, RT_SELF: the caller) */
#define HCALL_RT_END_JOB 19U    /* () returns at the app's next release */
#define HCALL_RT_GET_STATS 20U  /* (app id, gpa of struct rt_abi_stats, its size) */

#define RT_OWN_VM (~0UL)
#define RT_SELF (~0UL)

/* Value beside an error of HCALL_RT_CREATE_APP: the field of struct rt_abi_app that is refused, by its place. */
#define RT_FIELD_NONE 0UL
#define RT_FIELD_ENTRY 1UL
#define RT_FIELD_STACK 2UL
#define RT_FIELD_PERIOD 4UL
#define RT_FIELD_BUDGET 5UL
#define RT_FIELD_DEADLINE 6UL
#define RT_FIELD_CPU 7UL

/* Values beside HCALL_ERR_FAILED of a refused launch; any other: in so many us the apps of the CPU would demand more. */
#define RT_REFUSED_UTILIZATION 0UL    /* they would want more than all of its time */
#define RT_REFUSED_RESERVE (~0UL - 1) /* best effort would get its reserve too late */
#define RT_REFUSED_UNDECIDED (~0UL)

/* Values beside HCALL_ERR_DENIED of a refused launch. */
#define RT_DENIED_CALLER 0UL /* the VM's `rt-launchers` do not name it */
#define RT_DENIED_SHARE 1UL  /* the VM's apps would have more of the CPU than `rt-share-max` */

/* An application: where its RT-VCPU starts, and what time it needs. Every field is checked; times in microseconds. */
struct rt_abi_app {
    uint64_t entry;       /* guest-physical address of the first instruction of its first job */
    uint64_t stack;       /* its stack pointer there */
    uint64_t arg;         /* second argument; the first is the app's id */
    uint32_t period_us;   /* 1 .. 2^31-1 */
    uint32_t budget_us;   /* 1 .. deadline_us: CPU time it gets in a period */
    uint32_t deadline_us; /* 1 .. period_us, from the release */
    uint32_t cpu;         /* the system's hart that it is pinned to, from 0 */
};

/* Since its launch. Response: from a job's release to its end, in ticks of `time`. */
struct rt_abi_stats {
    uint64_t releases;    /* jobs released */
    uint64_t completions; /* jobs ended */
    uint64_t misses;      /* jobs that had not ended at their deadline */
    uint64_t overruns;    /* periods in which the budget was used up before the job ended */
    uint64_t response_min, response_max, response_sum;
    uint64_t runtime; /* CPU time used, ticks */
};

#endif
