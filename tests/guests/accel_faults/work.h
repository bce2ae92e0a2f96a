/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs of one VCPU on one device, whose results are compared with the software's. */
#ifndef WORK_H
#define WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "accel.h"

#define WORK_INPUT 8192U /* bytes, most */
#define WORK_FACTOR 8U   /* bytes of output for each byte of input, most */

/* What fpga/verify/sim/hwtask_probe.sv does wrong (CMD). */
enum work_wrong {
    WRONG_NOTHING = 0,
    WRONG_HANG = 1, /* neither ends nor stops */
    WRONG_MUTE = 6, /* stops, but gives no context */
};

struct work {
    struct accel a;
    unsigned long hart;       /* on which its functions are called */
    const struct task *task;  /* what the device computes */
    uint32_t command;         /* enum work_wrong, of the probe */
    uint32_t stride;          /* beats between two consistency points, of the probe */
    unsigned int jobs, wrong; /* finished; wrong words, sizes and faults in them */
    uint64_t state;           /* of a linear congruential generator */
    struct accel_job job;
    uint64_t input[WORK_INPUT / 8], output[WORK_INPUT / 8 * WORK_FACTOR],
        expected[WORK_INPUT / 8 * WORK_FACTOR];
};

/** Opens the VM's device number `index`, counted from 0; false if the VM has fewer, or its task has
 * no software. */
bool work_open(struct work *w, unsigned int index, unsigned long hart);

/** Prepares a job of `size` bytes, a multiple of 16 up to WORK_INPUT, with new input. */
void work_prepare(struct work *w, uint32_t size);

/** Starts the prepared job; its end raises ACCEL_IRQ. */
void work_start(struct work *w);

/** Waits for the end, asleep; counts the job and what is wrong. Returns the fault of the job. */
uint32_t work_finish(struct work *w);

/** work_prepare(), work_start(), work_finish(). */
uint32_t work_run(struct work *w, uint32_t size);

#endif
