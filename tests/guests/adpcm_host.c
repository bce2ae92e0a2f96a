/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The codec and its test signal as a host library for test_adpcm.py, built with the
 * undefined-behaviour sanitizer. Each call starts from a reset, or continues with a state of
 * adpcm_*_size() bytes that the caller keeps.
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
