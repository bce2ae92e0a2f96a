/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The 64 kbit/s audio codec of ITU-T G.722 (mode 1): 16 kHz samples, split into two bands by quadrature mirror filters
 * and coded by adaptive differential PCM, 6 bits for the lower and 2 bits for the higher band. One octet stands for two
 * samples. Integers only, no division, no memory but the state the caller gives; bit-exact.
 *
 * Clauses and names of blocks (QUANTL, UPPOL2, ...) are the recommendation's. It shows a variable of the lower band with
 * an L and one of the higher with an H (DETL, DETH); here both bands share one struct. Its 16-bit words are held in 32.
 */
#ifndef G722_H
#define G722_H

#include <stddef.h>
#include <stdint.h>

#define G722_QMF_TAPS 12U /* of each of the two halves of a filter */
#define G722_ZEROS 6U

/* One half of the delay line of a QMF, kept twice so that the last 12 values always lie side by side. */
struct g722_delay {
    int32_t values[2U * G722_QMF_TAPS];
};

/* Clause 5.2: a delay line for each half of the taps; `at` is where the oldest values of both begin, 0 .. 11. */
struct g722_qmf {
    struct g722_delay half[2];
    uint32_t at;
};

/* Clause 6.2, one band's quantizer scale and predictor. Index 0 is the previous sample, 1 the one before, ... */
struct g722_band {
    int32_t nb;            /* NB: logarithmic scale factor, 11 fractional bits of a power of two */
    int32_t det;           /* DET: scale factor of the quantizer */
    int32_t s;             /* S: the predictor's estimate of the next sample */
    int32_t sz;            /* SZ: the zero section's part of it */
    int32_t r[2];          /* RLT: reconstructed signal */
    int32_t p[2];          /* PLT: partially reconstructed signal */
    int32_t a[2];          /* AL: coefficients of the pole section, 2^14 is 1 */
    int32_t d[G722_ZEROS]; /* DLT: quantized difference signal */
    int32_t b[G722_ZEROS]; /* BL: coefficients of the zero section, 2^14 is 1 */
};

struct g722_encoder {
    struct g722_qmf qmf;
    struct g722_band low;
    struct g722_band high;
};

struct g722_decoder {
    struct g722_qmf qmf;
    struct g722_band low;
    struct g722_band high;
};

/** The state of clause 6.2 after a reset. To be called before the first sample, and again for another signal. */
void g722_encoder_init(struct g722_encoder *encoder);
void g722_decoder_init(struct g722_decoder *decoder);

/**
 * Codes `octets` pairs of samples (16 bits, 16 kHz) into as many octets: the higher band's two bits on top (clause 1.4).
 * `samples` holds 2 * octets of them.
 */
void g722_encode(struct g722_encoder *encoder, const int16_t *samples, uint8_t *codes, size_t octets);

/** The reverse: any octet is valid. `samples` has room for 2 * octets of them. */
void g722_decode(struct g722_decoder *decoder, const uint8_t *codes, int16_t *samples, size_t octets);

#endif
