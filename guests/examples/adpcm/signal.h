/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A speech-like input signal for the codec: pulses and noise through two resonators with gliding
 * frequencies, and pauses. Integer arithmetic makes the samples identical on every machine.
 */
#ifndef SIGNAL_H
#define SIGNAL_H

#include <stddef.h>
#include <stdint.h>

struct signal_resonator {
    int32_t coefficient; /* 2 r cos(2 pi f / 16 kHz), 2^14 represents 1; glides to the next sound */
    int32_t past[2];     /* its last outputs, within 16 bits */
};

struct signal {
    struct signal_resonator formant[2];
    uint32_t noise;  /* state of the generator, never 0 */
    uint32_t sample; /* index within the current sound */
    uint32_t sound;  /* index of the current sound */
    uint32_t pulse;  /* samples until the next pulse of the voice */
};

void signal_init(struct signal *signal);

/** The next `count` samples: 16 bits at 16 kHz. */
void signal_make(struct signal *signal, int16_t *samples, size_t count);

#endif
