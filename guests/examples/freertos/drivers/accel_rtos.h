/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accelerators for FreeRTOS: a task that runs a job sleeps until the device's interrupt, and other
 * tasks run meanwhile. The driver uses the guest model, because a write that blocks the VCPU would
 * stop all tasks; while the device waits for a region, the job is computed in software
 * (accel_unit.h).
 */
#ifndef ACCEL_RTOS_H
#define ACCEL_RTOS_H

#include "FreeRTOS.h"
#include "accel_unit.h"
#include "task.h"

struct accel_rtos {
    struct accel_unit unit;
    struct accel_result result;    /* of the last job on the device */
    TaskHandle_t volatile waiting; /* the task whose job is on the device, or NULL */
    struct accel_rtos *next;
};

/** Takes the external interrupt of CPU `hart`, on which the scheduler runs. Call before the
 * scheduler starts. */
void accel_rtos_init(unsigned long hart);

/** Opens a device, or software only; `soft` is the task in software. Call before the scheduler
 * starts; `d` stays in use. */
void accel_rtos_open(struct accel_rtos *d, const char *name, accel_soft_fn soft);

/** Runs a job; the calling task sleeps until it is over. One task at a time for each `d`. Uses the
 * task's notification 0. */
struct accel_result accel_rtos_run(struct accel_rtos *d, const struct accel_job *job);

/** As accel_rtos_run(), but on the device only: the job begins when there is a region. The VM must
 * have the device. */
struct accel_result accel_rtos_run_on_device(struct accel_rtos *d, const struct accel_job *job);

/** Jobs whose end an interrupt has reported so far. */
unsigned long accel_rtos_ended(void);

#endif
