/* SPDX-License-Identifier: Apache-2.0 */
/* A job that the released task runs on an accelerator; without an accelerator none. */
#ifndef JOB_H
#define JOB_H

#include <stdbool.h>
#include <stdint.h>

/**
 * Opens the accelerator that `device=` of the boot arguments names, whose task is AES-128. Without
 * this argument, or without a fabric, there is no job. `hart` is the one on which the scheduler
 * runs. Call before the scheduler starts.
 */
void job_open(unsigned long hart, const void *fdt);

/** Whether the released task runs a job. */
bool job_present(void);

/**
 * Runs the job on the accelerator, also if another VM's job has to be stopped and the region
 * configured for it; the calling task sleeps meanwhile. Returns machine_time() at which this task
 * has the result. A wrong result ends the guest.
 */
uint64_t job_run(void);

/** Jobs for which another VM's job was stopped, so far. */
unsigned long job_preemptions(void);

#endif
