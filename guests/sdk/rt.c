/* SPDX-License-Identifier: Apache-2.0 */
/* The hypercalls for RT apps (rt.h). */
#include "rt.h"

struct hcall_ret rt_create_app(const struct rt_params *params)
{
    return hcall_call(HCALL_RT_CREATE_APP, hcall_address(params), sizeof(*params), 0);
}

struct hcall_ret rt_launch_app(unsigned long vm, unsigned long app, uint64_t first)
{
    return hcall_call(HCALL_RT_LAUNCH_APP, vm, app, (unsigned long)first);
}

struct hcall_ret rt_use_device(unsigned long app, unsigned long device, uint32_t us)
{
    return hcall_call(HCALL_RT_USE_DEVICE, app, device, us);
}

struct hcall_ret rt_delete_app(unsigned long app)
{
    return hcall_call(HCALL_RT_DELETE_APP, app, 0, 0);
}

void rt_end_job(void)
{
    (void)hcall_call(HCALL_RT_END_JOB, 0, 0, 0);
}

struct hcall_ret rt_get_stats(unsigned long app, struct rt_stats *stats)
{
    return hcall_call(HCALL_RT_GET_STATS, app, hcall_address(stats), sizeof(*stats));
}
