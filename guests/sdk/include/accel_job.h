/* SPDX-License-Identifier: Apache-2.0 */
/* A job of an HW task (docs/hwtasks.md), for an accelerator (accel.h) or for software
 * (accel_soft.h). */
#ifndef GUEST_ACCEL_JOB_H
#define GUEST_ACCEL_JOB_H

#include <stdint.h>

/**
 * Input and output are 8-byte aligned RAM of the VM, and do not overlap. The output is written in
 * units of 8 bytes.
 */
struct accel_job {
    uint32_t command; /* meaning: docs/hwtasks.md, as that of `custom` */
    uint32_t size;    /* bytes of input */
    const void *input;
    void *output;
    uint32_t custom[8];
};

struct accel_result {
    uint32_t fault; /* 0, or why the job failed: STAT.fault */
    uint32_t code;  /* the task's own result */
    uint32_t size;  /* bytes of output, a multiple of 8 */
};

#endif
