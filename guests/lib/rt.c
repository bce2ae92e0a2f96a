/* SPDX-License-Identifier: Apache-2.0 */
#include "rt.h"

static struct sbi_ret rt_call(unsigned long number, unsigned long a0, unsigned long a1, unsigned long a2)
{
    return sbi_call(HCALL_EXTENSION, number, a0, a1, a2);
}

struct sbi_ret rt_create_app(const struct rt_params *params)
{
    return rt_call(HCALL_RT_CREATE_APP, (uintptr_t)params, sizeof(*params), 0);
}

struct sbi_ret rt_launch_app(unsigned long vm, unsigned long app, uint64_t first)
{
    return rt_call(HCALL_RT_LAUNCH_APP, vm, app, first);
}

struct sbi_ret rt_delete_app(unsigned long app)
{
    return rt_call(HCALL_RT_DELETE_APP, app, 0, 0);
}

void rt_end_job(void)
{
    (void)rt_call(HCALL_RT_END_JOB, 0, 0, 0);
}

struct sbi_ret rt_get_stats(unsigned long app, struct rt_stats *stats)
{
    return rt_call(HCALL_RT_GET_STATS, app, (uintptr_t)stats, sizeof(*stats));
}
