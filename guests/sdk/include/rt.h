/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Real-time apps, for the real-time manager: the guest of a VM with `rt-apps`. Each app is a
 * virtual CPU of this VM that the hypervisor schedules by EDF. All apps share the VM's memory, code
 * and libraries, and run with address translation off. docs/hypercalls.md has the errors.
 */
#ifndef GUEST_RT_H
#define GUEST_RT_H

#include <stdint.h>

#include "hcall.h"
#include "rt_abi.h"

/** A job, called once per period on its own stack. */
struct rt_task {
    void (*job)(void *argument);
    void *argument;
};

/** Entry of an app whose `arg` is a struct rt_task: at each release, calls the job and ends it. */
void rt_task_entry(void);

/**
 * Creates an inactive app; value: its id, from 0, or the refused field (RT_FIELD_*). Entry and
 * stack are guest-physical (hcall_address()): the entry of a struct rt_task is rt_task_entry, the
 * stack is 16-byte aligned.
 */
struct hcall_ret rt_create_app(const struct rt_params *params);

/**
 * Launches app `app` of VM `vm` (RT_OWN_VM: the caller's). `first` is its first release in ticks of
 * `time`; 0 or a past time: now. Value: the first release, or the reason of a refusal
 * (RT_REFUSED_*, RT_DENIED_*).
 */
struct hcall_ret rt_launch_app(unsigned long vm, unsigned long app, uint64_t first);

/**
 * Declares, before its launch, that app `app` starts at most one job in each period on a device of
 * the VM's accelerators (its number in struct accel_info), which takes at most `us` there: from
 * START on a connected device until it is over. The launch is refused if a job could take longer,
 * with all waits, than from the app's deadline to its next release. Value: the longest time in us
 * from the first write of a job until it is over, the delay by apps of the hart aside.
 *
 * The same for RT_SHARED_DEVICE + n, shared device n of the VM (shared.h): a job is one request,
 * which takes at most `us` while no other VM uses the device. Refused at once, with
 * HCALL_ERR_BAD_RANGE and the longest time in us, if that is longer than from the app's deadline to
 * its next release.
 */
struct hcall_ret rt_use_device(unsigned long app, unsigned long device, uint32_t us);

/** Deletes an app. RT_SELF: the calling app; then the call does not return. */
struct hcall_ret rt_delete_app(unsigned long app);

/** Ends the calling app's job; returns at its next release. */
void rt_end_job(void);

struct hcall_ret rt_get_stats(unsigned long app, struct rt_stats *stats);

/**
 * The reason why hypercall `call` (HCALL_RT_*) returned `ret`: a phrase that names the parameter or
 * the property of the system file.
 */
const char *rt_strerror(unsigned long call, struct hcall_ret ret);

#endif
