/* SPDX-License-Identifier: Apache-2.0 */
/* Creates and launches an RT app that uses a shared device (shared_app.h). The caller owns struct
 * shared_app. */
#include "fdt.h"
#include "print.h"
#include "shared_app.h"

static uint32_t time_of(const void *fdt, const char *word, uint32_t default_us)
{
    return (uint32_t)fdt_bootarg_number(fdt, word, default_us);
}

bool shared_app_create(struct shared_app *app, const void *fdt)
{
    struct rt_params params = {.entry = hcall_address((const void *)(uintptr_t)rt_task_entry),
                               .stack = hcall_address(app->stack) + SHARED_APP_STACK,
                               .arg = (uintptr_t)&app->task,
                               .period_us = time_of(fdt, "period", app->period_us),
                               .budget_us = time_of(fdt, "budget", app->budget_us),
                               .deadline_us = time_of(fdt, "deadline", app->deadline_us)};
    struct hcall_ret ret = rt_create_app(&params);

    if (ret.error != HCALL_OK) {
        print("%s: not created: %s\n", app->guest, rt_strerror(HCALL_RT_CREATE_APP, ret));
    }
    app->id = ret.value;
    return ret.error == HCALL_OK;
}

bool shared_app_declare(struct shared_app *app, enum shared_number device, uint32_t us)
{
    struct hcall_ret ret = rt_use_device(app->id, RT_SHARED_DEVICE + (unsigned long)device, us);

    if (ret.error != HCALL_OK) {
        print("%s: not declared: %s (%lu)\n", app->guest, rt_strerror(HCALL_RT_USE_DEVICE, ret),
              ret.value);
    }
    app->longest_us = ret.value;
    return ret.error == HCALL_OK;
}

bool shared_app_launch(const struct shared_app *app)
{
    struct hcall_ret ret = rt_launch_app(RT_OWN_VM, app->id, 0);

    if (ret.error != HCALL_OK) {
        print("%s: not launched: %s\n", app->guest, rt_strerror(HCALL_RT_LAUNCH_APP, ret));
    }
    return ret.error == HCALL_OK;
}
