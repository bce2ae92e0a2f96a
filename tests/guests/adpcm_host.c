/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The codec and its signal on this machine, as a library for test_adpcm.py (the undefined-behaviour sanitizer is on).
 * Each call is a whole run from a reset, or goes on with a state that the caller keeps: adpcm_*_size() bytes.
 */
#include <stddef.h>

#include "g722.h"
#include "signal.h"

size_t adpcm_encoder_size(void);
size_t adpcm_decoder_size(void);
void adpcm_signal(int16_t *samples, size_t count);

size_t adpcm_encoder_size(void)
{
    return sizeof(struct g722_encoder);
}

size_t adpcm_decoder_size(void)
{
    return sizeof(struct g722_decoder);
}

void adpcm_signal(int16_t *samples, size_t count)
{
    struct signal signal;

    signal_init(&signal);
    signal_make(&signal, samples, count);
}
