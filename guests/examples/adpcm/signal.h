/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Something like speech for the codec to work on: pulses and noise through two resonators whose frequencies glide, with
 * pauses between the sounds. Integers only, so that every machine makes the same samples.
 */
#ifndef SIGNAL_H
#define SIGNAL_H

#include <stddef.h>
#include <stdint.h>

struct signal_resonator {
    int32_t coefficient; /* 2 r cos(2 pi f / 16 kHz), 2^14 is 1: glides to that of the next sound */
    int32_t past[2];     /* its last outputs, within 16 bits */
};

struct signal {
    struct signal_resonator formant[2];
    uint32_t noise;  /* state of the generator, never 0 */
    uint32_t sample; /* within the present sound */
    uint32_t sound;  /* which one, an index */
    uint32_t pulse;  /* samples until the next pulse of the voice */
};

void signal_init(struct signal *signal);

/** The next `count` samples: 16 bits at 16 kHz. */
void signal_make(struct signal *signal, int16_t *samples, size_t count);

#endif
