/* SPDX-License-Identifier: Apache-2.0 */
/* Texts for the errors of the hypercalls for RT apps (rt_strerror() of rt.h). */
#include <stddef.h>

#include "rt.h"

#define ANY_CALL (~0UL)
/* returned by no call: above the longest interval in microseconds */
#define ANY_VALUE 0x7fffffffUL

/* The first matching row applies. */
static const struct rt_error {
    unsigned long call; /* ANY_CALL: any */
    long error;
    unsigned long value; /* ANY_VALUE: any */
    const char *text;
} rt_errors[] = {
    {HCALL_RT_CREATE_APP, HCALL_ERR_FAILED, ANY_VALUE, "all apps of rt-apps are in use"},
    {HCALL_RT_CREATE_APP, HCALL_ERR_INVALID_PARAM, RT_FIELD_PERIOD,
     "the period is not 1 to 2147483647 us"},
    {HCALL_RT_CREATE_APP, HCALL_ERR_INVALID_PARAM, RT_FIELD_BUDGET,
     "the budget is not 1 us to the deadline"},
    {HCALL_RT_CREATE_APP, HCALL_ERR_INVALID_PARAM, RT_FIELD_DEADLINE,
     "the deadline is not 1 us to the period"},
    {HCALL_RT_CREATE_APP, HCALL_ERR_INVALID_PARAM, RT_FIELD_CPU, "the system uses no such hart"},
    {HCALL_RT_CREATE_APP, HCALL_ERR_DENIED, RT_FIELD_PERIOD,
     "the period is longer than rt-period-max-us"},
    {HCALL_RT_CREATE_APP, HCALL_ERR_DENIED, RT_FIELD_BUDGET,
     "the budget is longer than rt-budget-max-us"},
    {HCALL_RT_CREATE_APP, HCALL_ERR_DENIED, RT_FIELD_CPU, "the hart is not one of rt-harts"},
    {HCALL_RT_CREATE_APP, HCALL_ERR_INVALID_ADDRESS, RT_FIELD_ENTRY,
     "the entry is outside the VM's RAM, or odd"},
    {HCALL_RT_CREATE_APP, HCALL_ERR_INVALID_ADDRESS, RT_FIELD_STACK,
     "the stack is outside the VM's RAM, or no multiple of 16"},
    {HCALL_RT_LAUNCH_APP, HCALL_ERR_FAILED, RT_REFUSED_UTILIZATION,
     "the utilization of the hart would exceed 1"},
    {HCALL_RT_LAUNCH_APP, HCALL_ERR_FAILED, RT_REFUSED_RESERVE,
     "best effort would get be-reserve-us too late"},
    {HCALL_RT_LAUNCH_APP, HCALL_ERR_FAILED, RT_REFUSED_UNDECIDED,
     "the admission test is undecided after its last pass"},
    {HCALL_RT_LAUNCH_APP, HCALL_ERR_FAILED, ANY_VALUE,
     "an app of the hart could miss its deadline"},
    {HCALL_RT_LAUNCH_APP, HCALL_ERR_DENIED, RT_DENIED_SHARE,
     "the VM would have more of the hart than rt-share-max"},
    {HCALL_RT_LAUNCH_APP, HCALL_ERR_DENIED, ANY_VALUE,
     "the app's VM does not name this one in rt-launchers"},
    {HCALL_RT_LAUNCH_APP, HCALL_ERR_BAD_RANGE, ANY_VALUE,
     "a job on a device could last beyond an app's next release"},
    {HCALL_RT_USE_DEVICE, HCALL_ERR_INVALID_PARAM, RT_USE_DEVICE, "the VM has no such device"},
    {HCALL_RT_USE_DEVICE, HCALL_ERR_INVALID_PARAM, RT_USE_TIME,
     "the time is not 1 to 2147483647 us"},
    {HCALL_RT_USE_DEVICE, HCALL_ERR_DENIED, RT_USE_HARTS,
     "devices of apps need a system with one hart"},
    {HCALL_RT_USE_DEVICE, HCALL_ERR_DENIED, RT_USE_NATIVE, "the device has the native model"},
    {HCALL_RT_USE_DEVICE, HCALL_ERR_DENIED, RT_USE_SHARED,
     "other VMs may use it for any time; the hypervisor has reported why"},
    {HCALL_RT_USE_DEVICE, HCALL_ERR_DENIED, RT_USE_HOLD,
     "hold-us is shorter than the time after the app's deadline"},
    {HCALL_RT_USE_DEVICE, HCALL_ERR_BAD_RANGE, ANY_VALUE,
     "a request could last beyond the app's next release"},
    {HCALL_RT_USE_DEVICE, HCALL_ERR_FAILED, ANY_VALUE, "the device has failed"},
    {HCALL_RT_USE_DEVICE, HCALL_ERR_INVALID_STATE, ANY_VALUE, "the app is launched already"},
    {HCALL_RT_USE_DEVICE, HCALL_ERR_ALREADY_AVAILABLE, ANY_VALUE,
     "an app has declared the device already"},
    {HCALL_RT_END_JOB, HCALL_ERR_DENIED, ANY_VALUE, "the caller is no RT app"},
    {ANY_CALL, HCALL_OK, ANY_VALUE, "done"},
    {ANY_CALL, HCALL_ERR_NOT_SUPPORTED, ANY_VALUE,
     "there is no such call: no Tessera, or one without rt"},
    {ANY_CALL, HCALL_ERR_INVALID_PARAM, ANY_VALUE,
     "there is no such VM or app, or a size is wrong"},
    {ANY_CALL, HCALL_ERR_DENIED, ANY_VALUE, "the VM has no rt-apps"},
    {ANY_CALL, HCALL_ERR_INVALID_ADDRESS, ANY_VALUE, "the buffer is outside the VM's RAM"},
    {ANY_CALL, HCALL_ERR_ALREADY_AVAILABLE, ANY_VALUE, "the app is launched already"},
};

const char *rt_strerror(unsigned long call, struct hcall_ret ret)
{
    for (size_t i = 0; i < sizeof(rt_errors) / sizeof(rt_errors[0]); i++) {
        const struct rt_error *e = &rt_errors[i];

        if ((e->call == call || e->call == ANY_CALL) && e->error == ret.error &&
            (e->value == ret.value || e->value == ANY_VALUE)) {
            return e->text;
        }
    }
    return "an unknown error";
}
