/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs whose results are compared with the software's. */
#ifndef ACCEL_RUN_H
#define ACCEL_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "accel.h"
#include "accel_soft.h"
#include "accel_unit.h"

#define RUN_INPUT 65536U /* bytes, most */

#define RUN_COMMANDS 4U

/* A device by its name, and its task in software. */
struct kind {
    const char *name;
    accel_soft_fn soft;
    uint32_t commands[RUN_COMMANDS]; /* of the jobs, in turn */
};

#define KINDS 4U
extern const struct kind kinds[KINDS];

/**
 * Runs a job of `size` bytes (a multiple of 16, up to RUN_INPUT) with new input; returns the number
 * of wrong words of the output, and 1 for each of fault, result code and size that differs from
 * software's.
 */
unsigned int run_job(const struct accel *a, const struct kind *kind, uint32_t size,
                     unsigned int number);

/** Runs the last job again. */
unsigned int run_again(const struct accel *a);

/** Runs a job of `size` bytes without a comparison of its result. */
struct accel_result run_unchecked(const struct accel *a, const struct kind *kind, uint32_t size);

/** As run_job(), on the device or in software. */
unsigned int run_unit(struct accel_unit *u, const struct kind *kind, uint32_t size,
                      unsigned int number);

/** Instructions that the first write to the device's page takes, as the guest sees it. */
uint64_t run_first_write(const struct accel *a);

/** The device of the VM's that `kinds` has; kinds[KINDS] does not exist, so one is expected. */
const struct kind *run_open_any(struct accel *a);

void run_report(const struct accel *a, const char *name);

/** Waits `us` microseconds, asleep. */
void run_sleep(uint64_t us);

#endif
