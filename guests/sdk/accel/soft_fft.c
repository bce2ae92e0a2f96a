/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FFT512 and FFT1024: decimation in frequency, radix 2^2, in place. The result is in bit-reversed
 * order. docs/hwtasks.md defines the rounding of each step.
 */
#include <stdbool.h>
#include <string.h>

#include "accel_soft.h"

_Static_assert((-3 >> 1) == -2, "arithmetic right shifts");

#define TURN 1024U    /* angles of a circle */
#define QUADRANT 256U /* angles of a quadrant */
#define RE 0U
#define IM 1U

struct fft {
    uint32_t command; /* bit s: halve the results of stage s */
    bool saturated;
};

/* round(2^16 * cos(2 pi i / 1024)), the first quadrant */
static const int32_t quarter[QUADRANT + 1U] = {
    65536, 65535, 65531, 65525, 65516, 65505, 65492, 65476, 65457, 65436, 65413, 65387, 65358,
    65328, 65294, 65259, 65220, 65180, 65137, 65091, 65043, 64993, 64940, 64884, 64827, 64766,
    64704, 64639, 64571, 64501, 64429, 64354, 64277, 64197, 64115, 64031, 63944, 63854, 63763,
    63668, 63572, 63473, 63372, 63268, 63162, 63054, 62943, 62830, 62714, 62596, 62476, 62353,
    62228, 62101, 61971, 61839, 61705, 61568, 61429, 61288, 61145, 60999, 60851, 60700, 60547,
    60392, 60235, 60075, 59914, 59750, 59583, 59415, 59244, 59071, 58896, 58718, 58538, 58356,
    58172, 57986, 57798, 57607, 57414, 57219, 57022, 56823, 56621, 56418, 56212, 56004, 55794,
    55582, 55368, 55152, 54934, 54714, 54491, 54267, 54040, 53812, 53581, 53349, 53114, 52878,
    52639, 52398, 52156, 51911, 51665, 51417, 51166, 50914, 50660, 50404, 50146, 49886, 49624,
    49361, 49095, 48828, 48559, 48288, 48015, 47741, 47464, 47186, 46906, 46624, 46341, 46056,
    45769, 45480, 45190, 44898, 44604, 44308, 44011, 43713, 43412, 43110, 42806, 42501, 42194,
    41886, 41576, 41264, 40951, 40636, 40320, 40002, 39683, 39362, 39040, 38716, 38391, 38064,
    37736, 37407, 37076, 36744, 36410, 36075, 35738, 35401, 35062, 34721, 34380, 34037, 33692,
    33347, 33000, 32652, 32303, 31952, 31600, 31248, 30893, 30538, 30182, 29824, 29466, 29106,
    28745, 28383, 28020, 27656, 27291, 26925, 26558, 26190, 25821, 25451, 25080, 24708, 24335,
    23961, 23586, 23210, 22834, 22457, 22078, 21699, 21320, 20939, 20557, 20175, 19792, 19409,
    19024, 18639, 18253, 17867, 17479, 17091, 16703, 16314, 15924, 15534, 15143, 14751, 14359,
    13966, 13573, 13180, 12785, 12391, 11996, 11600, 11204, 10808, 10411, 10014, 9616,  9218,
    8820,  8421,  8022,  7623,  7224,  6824,  6424,  6023,  5623,  5222,  4821,  4420,  4019,
    3617,  3216,  2814,  2412,  2010,  1608,  1206,  804,   402,   0,
};

static int32_t cosine(uint32_t angle)
{
    uint32_t within = angle % QUADRANT;

    switch (angle / QUADRANT % 4U) {
    case 0:
        return quarter[within];
    case 1:
        return -quarter[QUADRANT - within];
    case 2:
        return -quarter[within];
    default:
        return quarter[QUADRANT - within];
    }
}

static int16_t limit(struct fft *f, int64_t value)
{
    int64_t limited = value > INT16_MAX ? INT16_MAX : value;

    limited = limited < INT16_MIN ? INT16_MIN : limited;
    f->saturated = f->saturated || limited != value;
    return (int16_t)limited;
}

/* A sum or difference of stage `stage`, halved with rounding to even if the command says so. */
static int16_t narrow(struct fft *f, int32_t value, unsigned int stage)
{
    return limit(f, (f->command >> stage & 1U) != 0 ? (value + (value >> 1 & 1)) >> 1 : value);
}

/* Sums and differences of the samples half a block apart. `x` has `size` samples of two values. */
static void butterfly(struct fft *f, int16_t *x, uint32_t size, unsigned int stage)
{
    int16_t *y = x + size;

    for (uint32_t i = 0; i < size; i++) {
        int32_t first = x[i], second = y[i];

        x[i] = narrow(f, first + second, stage);
        y[i] = narrow(f, first - second, stage);
    }
}

/* Multiplies by -j. Saturation does not count. */
static void turn_back(int16_t *x, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++, x += 2) {
        int16_t re = x[RE];

        x[RE] = x[IM];
        x[IM] = (int16_t)(re == INT16_MIN ? INT16_MAX : -re);
    }
}

/* Multiplies sample n of quarter (k1, k2) by W_size^(n * (k1 + 2 * k2)). */
static void rotate(struct fft *f, int16_t *x, uint32_t size)
{
    uint32_t count = size / 4U;

    for (uint32_t i = 0; i < size; i++, x += 2) {
        uint32_t factor = i / count / 2U + i / count % 2U * 2U;
        uint32_t angle = i % count * factor * (TURN / size);
        int64_t cos = cosine(angle), sin = -cosine(angle + TURN - QUADRANT), re = x[RE], im = x[IM];

        x[RE] = limit(f, (re * cos - im * sin + 32768) >> 16);
        x[IM] = limit(f, (re * sin + im * cos + 32768) >> 16);
    }
}

/* Two stages on a block of `size` samples. */
static void stages(struct fft *f, int16_t *x, uint32_t size, unsigned int stage)
{
    butterfly(f, x, size, stage);
    turn_back(x + 3U * (size / 2U), size / 4U);
    butterfly(f, x, size / 2U, stage + 1);
    butterfly(f, x + size, size / 2U, stage + 1);
    if (size > 4) {
        rotate(f, x, size);
    }
}

static void transform(struct fft *f, int16_t *x, uint32_t points)
{
    unsigned int stage = 0;
    uint32_t size = points;

    for (; size >= 4; size /= 4U, stage += 2) {
        for (uint32_t at = 0; at < points; at += size) {
            stages(f, x + 2U * at, size, stage);
        }
    }
    for (uint32_t at = 0; at < points && size == 2; at += size) {
        butterfly(f, x + 2U * at, size, stage);
    }
}

static struct accel_result run(const struct accel_job *job, uint32_t points, uint32_t bytes)
{
    struct fft f = {.command = job->command};
    uint8_t *out = job->output;

    memcpy(out, job->input, job->size);
    memset(out + job->size, 0, bytes - job->size);
    for (uint32_t at = 0; at < bytes; at += 4U * points) {
        transform(&f, (int16_t *)(void *)(out + at), points);
    }
    return (struct accel_result){.code = f.saturated, .size = bytes};
}

struct accel_result accel_soft_fft512(const struct accel_job *job)
{
    return run(job, 512, ACCEL_FFT512_OUTPUT(job->size));
}

struct accel_result accel_soft_fft1024(const struct accel_job *job)
{
    return run(job, 1024, ACCEL_FFT1024_OUTPUT(job->size));
}
