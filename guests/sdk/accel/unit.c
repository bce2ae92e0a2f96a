/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a job on an accelerator, or in software while the device cannot be used (accel_unit.h). The
 * caller owns struct accel_unit. */
#include "accel_unit.h"

#define MODEL(status) ((status) >> 24 & 0xffU)

void accel_unit_open(struct accel_unit *u, const char *name, accel_soft_fn soft)
{
    *u = (struct accel_unit){.soft = soft};
    u->present = accel_open(&u->device, name) == 0;
}

bool accel_unit_ready(const struct accel_unit *u)
{
    struct hcall_ret status = {HCALL_ERR_NOT_SUPPORTED, 0};

    if (u->present) {
        status = accel_request(&u->device);
    }
    if (status.error != HCALL_OK) {
        return false;
    }
    return (status.value & ACCEL_STATUS_CONNECTED) != 0 ||
           ((status.value & ACCEL_STATUS_WAITING) != 0 &&
            MODEL(status.value) == ACCEL_MODEL_NATIVE);
}

struct accel_result accel_unit_run(struct accel_unit *u, const struct accel_job *job,
                                   unsigned long hart)
{
    if (!accel_unit_ready(u)) {
        return accel_unit_run_soft(u, job);
    }
    u->on_device++;
    return accel_run_asleep(&u->device, job, hart);
}
