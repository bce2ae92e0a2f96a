/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The work that is measured: frames of 10 ms of the signal, each coded, decoded, and added to two checksums. Notes
 * instret at the start and after each tenth of the frames; nothing is printed before all is done.
 *
 * Boot arguments:
 *   frames=n  how many frames, at least 10 (default 100)
 *   begin=t   value of the time CSR at which to begin: guests that share a hart begin together (default: at once)
 */
#ifndef WORK_H
#define WORK_H

#include <stdint.h>

#include "g722.h"
#include "signal.h"

#define WORK_OCTETS 80U /* of a frame: 160 samples, 10 ms */
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

/** Reads the boot arguments and waits for the time to begin, asleep. Interrupts are off, and stay so. */
void work_prepare(struct work *work, const void *fdt);

/** Does all of it. */
void work_run(struct work *work);

/**
 * How long to wait before work_report(), in milliseconds: guests that share a hart end within a few quanta of each
 * other; each of them speaks when all have ended, and in a time of its own, lest it disturb or interrupt another.
 */
uint64_t work_pause_ms(void);

/**
 * Prints the checksums, the marks, `ticks` (of the guest's operating system since it began; 0: there is none) and
 * `BENCH done`, and shuts down.
 */
_Noreturn void work_report(const struct work *work, uint64_t ticks);

#endif
