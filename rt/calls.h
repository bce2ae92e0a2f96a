/* SPDX-License-Identifier: Apache-2.0 */
/* The hypercalls of apps.c and devices.c, which component.c lists; rt_app.h has what else the files
 * of rt share. */
#ifndef RT_CALLS_H
#define RT_CALLS_H

#include "hypercall.h"

hcall_function rt_create_app, rt_launch_app, rt_delete_app, rt_end, rt_get_stats, rt_use_device;

#endif
