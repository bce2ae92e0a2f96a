/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The measured workload: frames of 10 ms of the signal, each encoded, decoded and added to two
 * checksums. Records instret at the start and after each tenth of the frames; prints only at the
 * end.
 *
 * Boot arguments:
 *   frames=n  number of frames, at least 10 (default 100)
 *   begin=t   start time as a value of the time CSR, so that guests sharing a hart start together
 *             (default: immediately)
 */
#ifndef WORK_H
#define WORK_H

#include <stdint.h>

#include "g722.h"
#include "signal.h"

#define WORK_OCTETS 80U /* per frame: 160 samples, 10 ms */
#define WORK_PARTS 10U

struct work {
    struct signal signal;
    struct g722_encoder encoder;
    struct g722_decoder decoder;
    uint32_t codes;   /* checksum of the octets */
    uint32_t samples; /* checksum of the decoded samples */
    uint64_t frames;
    uint64_t marks[WORK_PARTS + 1U]; /* instret at the start, and after each tenth of the frames */
};

/** Reads the boot arguments and sleeps until the start time. Interrupts are off and stay off. */
void work_prepare(struct work *work, const void *fdt);

/** Processes all frames. */
void work_run(struct work *work);

/**
 * Delay before work_report(), in milliseconds. Guests that share a hart finish within a few quanta
 * of each other; each reports after all have finished, in its own time slot, so that output does
 * not disturb a measurement.
 */
uint64_t work_pause_ms(void);

/**
 * Prints the checksums, the marks, `ticks` (of the guest's operating system since its start; 0:
 * none) and `BENCH done`, and shuts down.
 */
_Noreturn void work_report(const struct work *work, uint64_t ticks);

#endif
