/* SPDX-License-Identifier: Apache-2.0 */
/* The encoder and the decoder of G.722 (g722.h). The caller owns their state. */
#include "g722.h"

#include <string.h>

/* The recommendation requires arithmetic right shifts, which gcc and clang use for signed types. */
_Static_assert((-3 >> 1) == -2, "arithmetic right shifts");

#define G722_LOW_CODES 64U
#define G722_LOW_LEVELS 30U
#define G722_LOW_BITS 6U

/*
 * Scale of an adaptive quantizer (clauses 6.2.1.3 and 6.2.2.3): the only difference between the
 * bands.
 */
struct g722_scale {
    int32_t nb_max; /* upper limit of NB */
    int32_t shift;  /* integer part of NB, as a power of two, at which ILB needs no shift */
};

static const struct g722_scale g722_scale_low = {.nb_max = 18432, .shift = 8};
static const struct g722_scale g722_scale_high = {.nb_max = 22528, .shift = 10};

/* Table 11: H0, H2, ... H22; H23, H21, ... H1 are equal by symmetry. 2^12 represents 1. */
static const int32_t g722_taps[G722_QMF_TAPS] = {3,    -11,  12,  32,   -210, 951,
                                                 3876, -805, 362, -156, 53,   -11};

/* Q6 of table 14: decision levels of the lower band's quantizer, in DETL / 2^12; the first is 0. */
static const int32_t g722_q6[G722_LOW_LEVELS] = {
    0,   35,  72,  110, 150,  190,  233,  276,  323,  370,  422,  473,  530,  587,  650,
    714, 786, 858, 940, 1023, 1121, 1219, 1339, 1458, 1612, 1765, 1980, 2195, 2557, 2919};

/* ILB of table 13: 2^(n/32); 2^11 represents 1. */
static const int32_t g722_ilb[32] = {
    2048, 2093, 2139, 2186, 2233, 2282, 2332, 2383, 2435, 2489, 2543, 2599, 2656, 2714, 2774, 2834,
    2896, 2960, 3025, 3091, 3158, 3228, 3298, 3371, 3444, 3520, 3597, 3676, 3756, 3838, 3922, 4008};

/*
 * QM6: quantized difference for each six-bit code, in units of DETL / 2^15. An encoder never sends
 * codes 0 to 3.
 */
static const int32_t g722_qm6[G722_LOW_CODES] = {
    -136,   -136,   -136,  -136,  -24808, -21904, -19008, -16704, -14984, -13512, -12280,
    -11192, -10232, -9360, -8576, -7856,  -7192,  -6576,  -6000,  -5456,  -4944,  -4464,
    -4008,  -3576,  -3168, -2776, -2400,  -2032,  -1688,  -1360,  -1040,  -728,   24808,
    21904,  19008,  16704, 14984, 13512,  12280,  11192,  10232,  9360,   8576,   7856,
    7192,   6576,   6000,  5456,  4944,   4464,   4008,   3576,   3168,   2776,   2400,
    2032,   1688,   1360,  1040,  728,    432,    136,    -432,   -136};

/*
 * QM4: quantized difference for the upper four bits, which alone drive the adaptation of both
 * sides.
 */
static const int32_t g722_qm4[16] = {0,     -20456, -12896, -8968, -6288, -4240, -2584, -1200,
                                     20456, 12896,  8968,   6288,  4240,  2584,  1200,  0};

/* WL indexed through RL42: change of NBL for each value of the upper four bits. */
static const int32_t g722_wl[16] = {-60,  3042, 1198, 538, 334, 172, 58,  -30,
                                    3042, 1198, 538,  334, 172, 58,  -30, -60};

/*
 * The higher band's two-bit codes: QM2, and WH indexed through RH2. Its decision level is 564, in
 * DETH / 2^12.
 */
#define G722_Q2 564
static const int32_t g722_qm2[4] = {-7408, -1616, 7408, 1616};
static const int32_t g722_wh[4] = {798, -214, 798, -214};

static inline int32_t g722_limit(int32_t value, int32_t low, int32_t high)
{
    if (value < low) {
        return low;
    }
    return value > high ? high : value;
}

/* Saturation of a 16-bit addition (clause 6.2). */
static inline int32_t g722_saturate(int32_t value)
{
    return g722_limit(value, INT16_MIN, INT16_MAX);
}

/* The limits of a sub-band signal: 15 bits (clauses 5.2.1 and 6.2.1.6). */
static inline int32_t g722_limit15(int32_t value)
{
    return g722_limit(value, -16384, 16383);
}

/* `magnitude` with the sign of the product of two signals; 0 counts as positive. */
static inline int32_t g722_signed(int32_t magnitude, int32_t one, int32_t other)
{
    return (one ^ other) < 0 ? -magnitude : magnitude;
}

/* ---- Clause 5.2: quadrature mirror filters ---- */

/* Appends a value to each half; returns the position of the oldest of the last 12 values. */
static inline uint32_t g722_qmf_push(struct g722_qmf *qmf, int32_t first, int32_t second)
{
    uint32_t at = qmf->at;

    qmf->half[0].values[at] = first;
    qmf->half[0].values[at + G722_QMF_TAPS] = first;
    qmf->half[1].values[at] = second;
    qmf->half[1].values[at + G722_QMF_TAPS] = second;
    at = at + 1 == G722_QMF_TAPS ? 0 : at + 1;
    qmf->at = at;
    return at;
}

/* ACCUMA, ACCUMC: H0, H2, ... H22 with the newest value first. */
static inline int32_t g722_qmf_even(const int32_t *oldest)
{
    int32_t sum = 0;

    for (uint32_t i = 0; i < G722_QMF_TAPS; i++) {
        sum += g722_taps[i] * oldest[G722_QMF_TAPS - 1U - i];
    }
    return sum;
}

/*
 * ACCUMB, ACCUMD: H1, H3, ... H23 with the newest value first, equal to the even taps in reverse
 * order.
 */
static inline int32_t g722_qmf_odd(const int32_t *oldest)
{
    int32_t sum = 0;

    for (uint32_t i = 0; i < G722_QMF_TAPS; i++) {
        sum += g722_taps[i] * oldest[i];
    }
    return sum;
}

/* ---- Clauses 6.2.1.2 to 6.2.1.4, 6.2.2.2 to 6.2.2.4: shared by encoder and decoder of a band
 * ---- */

/* LOGSCL, LOGSCH: the logarithmic scale factor leaks by 1/128 and changes by `change`. */
static inline void g722_logsc(struct g722_band *band, const struct g722_scale *scale,
                              int32_t change)
{
    band->nb = g722_limit(((band->nb * 127) >> 7) + change, 0, scale->nb_max);
}

/* SCALEL, SCALEH: logarithmic to linear conversion. */
static inline void g722_scale(struct g722_band *band, const struct g722_scale *scale)
{
    int32_t fraction = g722_ilb[(band->nb >> 6) & 31];
    int32_t right = scale->shift - (band->nb >> 11);

    band->det = (right < 0 ? fraction << -right : fraction >> right) << 2;
}

/*
 * UPZERO: sign algorithm with leakage for the zero section; `d` is the newest difference, band->d
 * the earlier ones.
 */
static inline void g722_upzero(struct g722_band *band, int32_t d)
{
    int32_t step = d == 0 ? 0 : 128;

    for (uint32_t i = 0; i < G722_ZEROS; i++) {
        int32_t leaked = (band->b[i] * 32640) >> 15;

        band->b[i] = g722_saturate(leaked + g722_signed(step, d, band->d[i]));
    }
}

/* UPPOL2, UPPOL1: adapts the pole section within its stability limits; `p` is the newest PLT. */
static inline void g722_uppol(struct g722_band *band, int32_t p)
{
    int32_t push = g722_signed(g722_saturate(band->a[0] * 4), p, band->p[0]);
    int32_t toward = g722_signed(128, p, band->p[1]);
    int32_t second =
        (g722_limit(-push, INT16_MIN, INT16_MAX) >> 7) + toward + ((band->a[1] * 32512) >> 15);
    int32_t first = g722_signed(192, p, band->p[0]) + ((band->a[0] * 32640) >> 15);
    int32_t bound;

    second = g722_limit(second, -12288, 12288);
    bound = 15360 - second;
    band->a[1] = second;
    band->a[0] = g722_limit(first, -bound, bound);
}

/* FILTEZ, with DELAYA of the differences: the oldest first, each sum limited. */
static inline void g722_filtez(struct g722_band *band, int32_t d)
{
    int32_t sum = 0;

    for (uint32_t i = G722_ZEROS; i-- > 0;) {
        band->d[i] = i == 0 ? d : band->d[i - 1U];
        sum = g722_saturate(sum + ((g722_saturate(2 * band->d[i]) * band->b[i]) >> 15));
    }
    band->sz = sum;
}

/* FILTEP, with DELAYA of the reconstructed signal. */
static inline int32_t g722_filtep(struct g722_band *band, int32_t r)
{
    int32_t newer = (g722_saturate(2 * r) * band->a[0]) >> 15;
    int32_t older = (g722_saturate(2 * band->r[0]) * band->a[1]) >> 15;

    band->r[1] = band->r[0];
    band->r[0] = r;
    return g722_saturate(newer + older);
}

/*
 * Block 4L, 4H (clauses 6.2.1.4, 6.2.2.4): adapts the predictor to the quantized difference `d`,
 * and predicts.
 */
static void g722_predict(struct g722_band *band, int32_t d)
{
    int32_t r = g722_saturate(band->s + d);  /* RECONS */
    int32_t p = g722_saturate(band->sz + d); /* PARREC */

    g722_upzero(band, d);
    g722_uppol(band, p);
    band->p[1] = band->p[0];
    band->p[0] = p;
    g722_filtez(band, d);
    band->s = g722_saturate(g722_filtep(band, r) + band->sz); /* PREDIC */
}

/* Blocks 2L to 4L for the transmitted code; the lower two of its six bits are ignored. */
static void g722_adapt_low(struct g722_band *band, uint32_t code)
{
    uint32_t upper = code >> 2;
    int32_t d = (band->det * g722_qm4[upper]) >> 15; /* INVQAL */

    g722_logsc(band, &g722_scale_low, g722_wl[upper]);
    g722_scale(band, &g722_scale_low);
    g722_predict(band, d);
}

/* Blocks 2H to 4H; returns the quantized difference (INVQAH). */
static int32_t g722_adapt_high(struct g722_band *band, uint32_t code)
{
    int32_t d = (band->det * g722_qm2[code]) >> 15;

    g722_logsc(band, &g722_scale_high, g722_wh[code]);
    g722_scale(band, &g722_scale_high);
    g722_predict(band, d);
    return d;
}

static void g722_reset(struct g722_band *low, struct g722_band *high)
{
    low->det = 32;
    high->det = 8;
}

/* ---- Encoder ---- */

void g722_encoder_init(struct g722_encoder *encoder)
{
    memset(encoder, 0, sizeof(*encoder));
    g722_reset(&encoder->low, &encoder->high);
}

/*
 * SUBTRA, QUANTL (clause 6.2.1.1): the code of the interval of the difference; 30 intervals per
 * sign.
 */
static uint32_t g722_quantize_low(const struct g722_band *band, int32_t x)
{
    int32_t difference = g722_saturate(x - band->s);
    int32_t magnitude = difference < 0 ? ~difference : difference;
    uint32_t level = 1;

    while (level < G722_LOW_LEVELS && magnitude >= (g722_q6[level] * band->det) >> 12) {
        level++;
    }
    /* ILP runs from 61 to 32; ILN from 31 to 4, with 63 and 62 for its two innermost intervals. */
    if (difference >= 0) {
        return 62U - level;
    }
    return level <= 2 ? 64U - level : 34U - level;
}

/* SUBTRA, QUANTH (clause 6.2.2.1) */
static uint32_t g722_quantize_high(const struct g722_band *band, int32_t x)
{
    int32_t difference = g722_saturate(x - band->s);
    int32_t magnitude = difference < 0 ? ~difference : difference;
    uint32_t inner = magnitude < (G722_Q2 * band->det) >> 12 ? 1U : 0U;

    return (difference < 0 ? 0U : 2U) + inner;
}

/* Clause 5.2.1, then the code of each band. */
static uint8_t g722_encode_pair(struct g722_encoder *encoder, const int16_t *samples)
{
    uint32_t at = g722_qmf_push(&encoder->qmf, samples[0], samples[1]);
    int32_t odd = g722_qmf_odd(&encoder->qmf.half[0].values[at]);
    int32_t even = g722_qmf_even(&encoder->qmf.half[1].values[at]);
    uint32_t low = g722_quantize_low(&encoder->low, g722_limit15((even + odd) >> 14));
    uint32_t high = g722_quantize_high(&encoder->high, g722_limit15((even - odd) >> 14));

    g722_adapt_low(&encoder->low, low);
    (void)g722_adapt_high(&encoder->high, high);
    return (uint8_t)(high << G722_LOW_BITS | low);
}

void g722_encode(struct g722_encoder *encoder, const int16_t *samples, uint8_t *codes,
                 size_t octets)
{
    for (size_t i = 0; i < octets; i++) {
        codes[i] = g722_encode_pair(encoder, samples + 2U * i);
    }
}

/* ---- Decoder ---- */

void g722_decoder_init(struct g722_decoder *decoder)
{
    memset(decoder, 0, sizeof(*decoder));
    g722_reset(&decoder->low, &decoder->high);
}

/* INVQBL, RECONS and LIMIT of blocks 5L and 6L (clauses 6.2.1.5, 6.2.1.6), 6 bits (mode 1). */
static int32_t g722_decode_low(struct g722_band *band, uint32_t code)
{
    int32_t difference = (band->det * g722_qm6[code]) >> 15;
    int32_t r = g722_limit15(g722_saturate(band->s + difference));

    g722_adapt_low(band, code);
    return r;
}

/* Block 5H (clause 6.2.2.5) */
static int32_t g722_decode_high(struct g722_band *band, uint32_t code)
{
    int32_t predicted = band->s;

    return g722_limit15(g722_saturate(predicted + g722_adapt_high(band, code)));
}

/* Each band, then clause 5.2.2. */
static void g722_decode_octet(struct g722_decoder *decoder, uint8_t octet, int16_t *samples)
{
    int32_t low = g722_decode_low(&decoder->low, octet & (G722_LOW_CODES - 1U));
    int32_t high = g722_decode_high(&decoder->high, (uint32_t)octet >> G722_LOW_BITS);
    uint32_t at = g722_qmf_push(&decoder->qmf, low + high, low - high);

    samples[0] = (int16_t)g722_saturate(g722_qmf_even(&decoder->qmf.half[1].values[at]) >> 11);
    samples[1] = (int16_t)g722_saturate(g722_qmf_odd(&decoder->qmf.half[0].values[at]) >> 11);
}

void g722_decode(struct g722_decoder *decoder, const uint8_t *codes, int16_t *samples,
                 size_t octets)
{
    for (size_t i = 0; i < octets; i++) {
        g722_decode_octet(decoder, codes[i], samples + 2U * i);
    }
}
