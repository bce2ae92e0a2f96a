/* SPDX-License-Identifier: Apache-2.0 */
/* Generates the input signal of the codec (signal.h), for both guests of this folder. The caller
 * owns struct signal. */
#include "signal.h"

#define SIGNAL_SOUND 1280U   /* samples of each sound: 80 ms */
#define SIGNAL_GLIDE 7       /* a coefficient approaches its target by 1/128 per sample */
#define SIGNAL_DAMPING 15416 /* r^2 with r = 0.97, 2^14 represents 1 */

struct signal_sound {
    int32_t coefficient[2];
    int32_t voice;   /* amplitude of a pulse; 0: none */
    uint32_t period; /* samples from pulse to pulse */
    int32_t breath;  /* weight of the noise, 2^16 is its full scale */
};

static const struct signal_sound signal_sounds[] = {
    {{30592, 28320}, 900, 128, 40},   /* 700 and 1200 Hz at a pitch of 125 Hz */
    {{31565, 19677}, 600, 116, 20},   /* 300 and 2300 Hz */
    {{0, -18000}, 0, 128, 4000},      /* hissing */
    {{31174, 29820}, 1100, 140, 60},  /* 500 and 900 Hz */
    {{31174, 29820}, 0, 128, 0},      /* a pause */
    {{29820, 19677}, 9000, 96, 300},  /* loud enough to clip */
    {{31565, 28320}, 300, 150, 2000}, /* hoarse */
    {{31565, 31174}, 0, 128, 2},      /* all but a pause */
};

#define SIGNAL_SOUNDS (sizeof(signal_sounds) / sizeof(signal_sounds[0]))

void signal_init(struct signal *signal)
{
    *signal = (struct signal){.noise = 0x2545f491U, .pulse = 1};
    for (unsigned int i = 0; i < 2; i++) {
        signal->formant[i].coefficient = signal_sounds[0].coefficient[i];
    }
}

static int32_t signal_cut(int32_t value)
{
    if (value > INT16_MAX) {
        return INT16_MAX;
    }
    return value < INT16_MIN ? INT16_MIN : value;
}

/* Marsaglia's xorshift (13, 17, 5); returns its upper 16 bits as a signed number. */
static int32_t signal_noise(struct signal *signal)
{
    uint32_t state = signal->noise;

    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    signal->noise = state;
    return (int32_t)(state >> 16) - 0x8000;
}

/* The excitation of the resonators: periodic pulses, and noise. */
static int32_t signal_source(struct signal *signal, const struct signal_sound *sound)
{
    int32_t value = (signal_noise(signal) * sound->breath) >> 16;

    signal->pulse--;
    if (signal->pulse == 0) {
        signal->pulse = sound->period;
        value += sound->voice;
    }
    return value;
}

static int32_t signal_resonate(struct signal_resonator *resonator, int32_t goal, int32_t input)
{
    int32_t kept =
        (resonator->coefficient * resonator->past[0] - SIGNAL_DAMPING * resonator->past[1]) >> 14;

    resonator->coefficient += (goal - resonator->coefficient) >> SIGNAL_GLIDE;
    resonator->past[1] = resonator->past[0];
    resonator->past[0] = signal_cut(kept + input);
    return resonator->past[0];
}

static int16_t signal_next(struct signal *signal)
{
    const struct signal_sound *sound = &signal_sounds[signal->sound];
    int32_t source = signal_source(signal, sound);
    int32_t value = 0;

    for (unsigned int i = 0; i < 2; i++) {
        value += signal_resonate(&signal->formant[i], sound->coefficient[i], source);
    }
    signal->sample++;
    if (signal->sample == SIGNAL_SOUND) {
        signal->sample = 0;
        signal->sound = signal->sound + 1 == SIGNAL_SOUNDS ? 0 : signal->sound + 1;
    }
    return (int16_t)signal_cut(value);
}

void signal_make(struct signal *signal, int16_t *samples, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        samples[i] = signal_next(signal);
    }
}
