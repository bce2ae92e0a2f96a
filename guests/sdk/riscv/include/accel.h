/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accelerators of the fabric (docs/fabric.md): the VM uses each as if it owned it. The first write
 * to a device's registers requests a region for it; with the native model the write returns when
 * the device is there, with the guest model at once (accel_abi.h).
 */
#ifndef GUEST_ACCEL_H
#define GUEST_ACCEL_H

#include <stdbool.h>
#include <stdint.h>

#include "accel_abi.h"
#include "accel_job.h"
#include "hcall.h"

struct accel {
    uintptr_t page;
    unsigned int device;
};

/**
 * Finds the VM's device by its name in the system file. 0, HCALL_ERR_INVALID_PARAM if the VM has no
 * such device, or HCALL_ERR_NOT_SUPPORTED without a hypervisor that has accelerators.
 */
long accel_open(struct accel *a, const char *name);

/** Writes the job's registers and starts it. With `interrupt`, its end raises source ACCEL_IRQ. */
void accel_submit(const struct accel *a, const struct accel_job *job, bool interrupt);

/** Whether the job is over. */
bool accel_over(const struct accel *a);

/** The result of a job that is over; clears its interrupt. */
struct accel_result accel_finish(const struct accel *a);

/** accel_submit(), then polls until the job is over. */
struct accel_result accel_run(const struct accel *a, const struct accel_job *job);

/**
 * accel_submit(), then sleeps until the job is over, on CPU `hart`, whose interrupts are off in
 * sstatus. Source ACCEL_IRQ is used by this function only.
 */
struct accel_result accel_run_asleep(const struct accel *a, const struct accel_job *job,
                                     unsigned long hart);

/** HCALL_ACCEL_*: see accel_abi.h. */
static inline struct hcall_ret accel_request(const struct accel *a)
{
    return hcall_call(HCALL_ACCEL_REQUEST, a->device, 0, 0);
}

static inline struct hcall_ret accel_release(const struct accel *a)
{
    return hcall_call(HCALL_ACCEL_RELEASE, a->device, 0, 0);
}

static inline struct hcall_ret accel_status(const struct accel *a)
{
    return hcall_call(HCALL_ACCEL_STATUS, a->device, 0, 0);
}

static inline struct hcall_ret accel_get_stats(const struct accel *a, struct accel_stats *stats)
{
    return hcall_call(HCALL_ACCEL_GET_STATS, a->device, hcall_address(stats), sizeof(*stats));
}

/** For a VM with `accelerator-monitor`; value: the number of regions. */
static inline struct hcall_ret accel_get_region(unsigned long number, struct accel_region *region)
{
    return hcall_call(HCALL_ACCEL_GET_REGION, number, hcall_address(region), sizeof(*region));
}

/** For a VM with `accelerator-monitor`; value: the number of devices of all VMs. */
static inline struct hcall_ret accel_get_client(unsigned long index, struct accel_client *client)
{
    return hcall_call(HCALL_ACCEL_GET_CLIENT, index, hcall_address(client), sizeof(*client));
}

/** For a VM with the overlay in `overlays`; they start a transaction. Its end is
 * ACCEL_EVENT_OVERLAY, or accel_overlay_status() tells. */
static inline long accel_apply_overlay(unsigned long number)
{
    return hcall_call(HCALL_ACCEL_APPLY_OVERLAY, number, 0, 0).error;
}

static inline long accel_remove_overlay(unsigned long number)
{
    return hcall_call(HCALL_ACCEL_REMOVE_OVERLAY, number, 0, 0).error;
}

static inline long accel_overlay_status(unsigned long number, struct accel_overlay *status)
{
    return hcall_call(HCALL_ACCEL_OVERLAY_STATUS, number, hcall_address(status), sizeof(*status))
        .error;
}

static inline unsigned long accel_events(void)
{
    struct hcall_ret ret = hcall_call(HCALL_ACCEL_EVENTS, 0, 0, 0);

    return ret.error == HCALL_OK ? ret.value : 0;
}

static inline long accel_set_priority(const struct accel *a, unsigned long priority)
{
    return hcall_call(HCALL_ACCEL_SET_PRIORITY, a->device, priority, 0).error;
}

static inline long accel_set_model(const struct accel *a, unsigned long model)
{
    return hcall_call(HCALL_ACCEL_SET_MODEL, a->device, model, 0).error;
}

#endif
