/* SPDX-License-Identifier: Apache-2.0 */
/* Registers the real-time apps: hypercalls (apps.c, devices.c) and the scheduling class of EDF
 * (sched_edf.c). Prepares the apps and their queues at boot. */
#include "component.h"

#include "calls.h"
#include "rt_app.h"
#include "rt_queue.h"

static const struct hcall_entry calls[] = {
    {HCALL_RT_CREATE_APP, rt_create_app, NULL},
    {HCALL_RT_LAUNCH_APP, rt_launch_app, NULL},
    {HCALL_RT_DELETE_APP, rt_delete_app, NULL},
    {HCALL_RT_END_JOB, rt_end, NULL},
    {HCALL_RT_GET_STATS, rt_get_stats, NULL},
    {HCALL_RT_USE_DEVICE, rt_use_device, NULL},
    {0, NULL, NULL},
};

static const char *boot(void)
{
    rt_apps_init();
    return rt_queues_boot();
}

COMPONENT(rt, .boot = boot, .sched = &rt_class, .hypercalls = calls);
