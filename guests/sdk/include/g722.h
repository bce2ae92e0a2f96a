/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The 64 kbit/s audio codec of ITU-T G.722 (mode 1): 16 kHz samples, split into two bands by
 * quadrature mirror filters and coded by adaptive differential PCM, 6 bits for the lower and 2 bits
 * for the higher band. One octet encodes two samples. Integer arithmetic only, no division, no
 * memory but the caller's state; bit-exact.
 *
 * Clauses and block names (QUANTL, UPPOL2, ...) are those of the recommendation, which marks
 * variables of the lower band with L and of the higher band with H (DETL, DETH); here both bands
 * share one struct. Its 16-bit words are held in 32 bits.
 */
#ifndef G722_H
#define G722_H

#include <stddef.h>
#include <stdint.h>

#define G722_QMF_TAPS 12U /* of each of the two halves of a filter */
#define G722_ZEROS 6U

/*
 * One half of the delay line of a QMF, stored twice so that the last 12 values are always
 * contiguous.
 */
struct g722_delay {
    int32_t values[2U * G722_QMF_TAPS];
};

/*
 * Clause 5.2: a delay line for each half of the taps; `at` is the index of the oldest values in
 * both, 0 .. 11.
 */
struct g722_qmf {
    struct g722_delay half[2];
    uint32_t at;
};

/*
 * Clause 6.2, one band's quantizer scale and predictor. Index 0 is the previous sample, 1 the one
 * before, ...
 */
struct g722_band {
    int32_t nb;            /* NB: logarithmic scale factor, 11 fractional bits of a power of two */
    int32_t det;           /* DET: scale factor of the quantizer */
    int32_t s;             /* S: the predictor's estimate of the next sample */
    int32_t sz;            /* SZ: contribution of the zero section to S */
    int32_t r[2];          /* RLT: reconstructed signal */
    int32_t p[2];          /* PLT: partially reconstructed signal */
    int32_t a[2];          /* AL: coefficients of the pole section, 2^14 represents 1 */
    int32_t d[G722_ZEROS]; /* DLT: quantized difference signal */
    int32_t b[G722_ZEROS]; /* BL: coefficients of the zero section, 2^14 represents 1 */
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

/** Resets the state (clause 6.2). Call before the first sample of each signal. */
void g722_encoder_init(struct g722_encoder *encoder);
void g722_decoder_init(struct g722_decoder *decoder);

/**
 * Encodes `octets` pairs of samples (16 bits, 16 kHz) into as many octets, the higher band in the
 * two most significant bits (clause 1.4). `samples` holds 2 * octets samples.
 */
void g722_encode(struct g722_encoder *encoder, const int16_t *samples, uint8_t *codes,
                 size_t octets);

/** Decodes `octets` octets, of which every value is valid, into 2 * octets samples. */
void g722_decode(struct g722_decoder *decoder, const uint8_t *codes, int16_t *samples,
                 size_t octets);

#endif
