/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A task that runs on the VM's accelerator, and in software when the VM has none, when its region
 * could not be configured, or (with the guest model) while it waits for a region. Results are
 * equal.
 */
#ifndef GUEST_ACCEL_UNIT_H
#define GUEST_ACCEL_UNIT_H

#include "accel.h"
#include "accel_soft.h"

struct accel_unit {
    struct accel device;
    bool present; /* the VM has the device */
    accel_soft_fn soft;
    uint32_t on_device, in_software; /* jobs so far */
};

/** Finds the VM's device by its name in the system file; `soft` is its task in software. */
void accel_unit_open(struct accel_unit *u, const char *name, accel_soft_fn soft);

/**
 * Whether the next job shall be submitted to the device. Requests a region if the device has none.
 * With the native model, true also while it waits for the region, because submitting the job waits;
 * with the guest model false: the request stays, and a later call finds the region. If another VM
 * takes the region between this call and the job, the job begins when there is a region.
 */
bool accel_unit_ready(const struct accel_unit *u);

/** Runs a job on the device, asleep as accel_run_asleep(), or in software. */
struct accel_result accel_unit_run(struct accel_unit *u, const struct accel_job *job,
                                   unsigned long hart);

/** Runs a job in software, and counts it. */
static inline struct accel_result accel_unit_run_soft(struct accel_unit *u,
                                                      const struct accel_job *job)
{
    u->in_software++;
    return u->soft(job);
}

#endif
