/* SPDX-License-Identifier: Apache-2.0 */
/* The devices that RT apps use: admission counts the time that a job on them takes. One hypercall,
 * which asks the components for that bound (resource.h). */
#include "calls.h"
#include "cpu.h"
#include "resource.h"
#include "rt_app.h"
#include "system.h"
#include "vm.h"

#define LONGEST_US 0x7fffffffU
#define DEVICES 32U

static struct hcall_ret answer(long error, ulong value)
{
    return (struct hcall_ret){error, value};
}

/* Under sched_lock: whether an app of the VM has declared the device. */
static bool is_declared(const struct vm *vm, ulong device)
{
    uint32_t declared = 0;

    for (unsigned n = 0; n < vm->total - vm->nvcpus; n++) {
        const struct rt_app *app = rt_app_of(vm, n);

        declared |= app->state == RT_FREE ? 0 : app->devices;
    }
    return (declared >> device & 1U) != 0;
}

/* Admission bounds the time until a job is over by that from the app's deadline to its next
 * release. The region must not expire in it, because a region that has to be requested again takes
 * another bound. */
static bool is_kept(const struct rt_app *app, const struct resource_wait *wait)
{
    return wait->kept >= app->period - app->deadline;
}

/* Of a job that apps do not delay: admission has nothing to add. */
static bool is_late(const struct rt_app *app, const struct resource_wait *wait)
{
    return wait->direct && wait->longest > app->period - app->deadline;
}

static void note(struct rt_app *app, ulong device, const struct resource_wait *wait)
{
    app->devices |= 1U << device;
    if (!wait->direct && wait->longest > app->wait) {
        app->wait = wait->longest;
    }
    app->test.count = 0; /* a test that was begun has the app without the device */
}

/* Notes that `app` has jobs on the device. The longest of its devices decides: each has the time
 * from the app's deadline to its next release. */
static struct hcall_ret declare(struct rt_app *app, ulong device, const struct resource_wait *wait)
{
    ulong us = (ulong)((wait->longest + hyp.us - 1) / hyp.us);
    struct hcall_ret ret = answer(HCALL_OK, us);

    spin_lock(&sched_lock);
    if (app->state == RT_FREE) {
        ret = answer(HCALL_ERR_INVALID_PARAM, RT_USE_APP);
    } else if (app->state == RT_ACTIVE) {
        ret = answer(HCALL_ERR_INVALID_STATE, 0);
    } else if (is_declared(app->vcpu->vm, device)) {
        ret = answer(HCALL_ERR_ALREADY_AVAILABLE, 0);
    } else if (!is_kept(app, wait)) {
        ret = answer(HCALL_ERR_DENIED, RT_USE_HOLD);
    } else if (is_late(app, wait)) {
        ret = answer(HCALL_ERR_BAD_RANGE, us);
    } else {
        note(app, device, wait);
    }
    spin_unlock(&sched_lock);
    return ret;
}

/* Of a device whose answer is not RESOURCE_BOUNDED. */
static struct hcall_ret refuse(enum resource_answer why)
{
    switch (why) {
    case RESOURCE_FAILED:
        return answer(HCALL_ERR_FAILED, 0);
    case RESOURCE_BLOCKS:
        return answer(HCALL_ERR_DENIED, RT_USE_NATIVE);
    case RESOURCE_SHARED:
        return answer(HCALL_ERR_DENIED, RT_USE_SHARED);
    case RESOURCE_CPUS:
        return answer(HCALL_ERR_DENIED, RT_USE_HARTS);
    case RESOURCE_UNKNOWN:
    case RESOURCE_BOUNDED:
    default:
        return answer(HCALL_ERR_INVALID_PARAM, RT_USE_DEVICE);
    }
}

static struct hcall_ret use(struct rt_app *app, ulong device, ulong us)
{
    struct resource_wait wait = {0};
    enum resource_answer why = device < DEVICES
                                   ? resource_bound(app->vcpu->vm, device, us * hyp.us, &wait)
                                   : RESOURCE_UNKNOWN;

    if (why != RESOURCE_BOUNDED) {
        return refuse(why);
    }
    return declare(app, device, &wait);
}

struct hcall_ret rt_use_device(ulong id, ulong device, ulong us, ulong a3, ulong a4, ulong a5)
{
    const struct vm *vm = cpu_self()->current->vm;
    struct rt_app *app = rt_app_of(vm, id);

    (void)a3, (void)a4, (void)a5;
    if (app == NULL) {
        return vm->total == vm->nvcpus ? answer(HCALL_ERR_DENIED, RT_USE_NO_APPS)
                                       : answer(HCALL_ERR_INVALID_PARAM, RT_USE_APP);
    }
    return us == 0 || us > LONGEST_US ? answer(HCALL_ERR_INVALID_PARAM, RT_USE_TIME)
                                      : use(app, device, us);
}
