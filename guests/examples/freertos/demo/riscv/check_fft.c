/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Floating point, part one: Fourier transforms and their inverses. The result must equal the input
 * within rounding, and be bit-identical to that computed before the scheduler started, without
 * context switches.
 */
#include <string.h>

#include "FreeRTOS.h"
#include "burst.h"
#include "check.h"
#include "task.h"

#define FFT_POINTS 64U
#define FFT_LOG2 6U
#define FFT_TOLERANCE 1e-13

struct complex {
    double re;
    double im;
};

struct check fft_check = {.name = "fft", .needed = 100};

static struct complex fft_twiddles[FFT_POINTS / 2];
static struct complex fft_input[FFT_POINTS];
static struct complex fft_reference[FFT_POINTS];
static struct complex fft_data[FFT_POINTS];

static double fft_sqrt(double value)
{
    double root;

    __asm__("fsqrt.d %0, %1" : "=f"(root) : "f"(value));
    return root;
}

static struct complex fft_multiply(struct complex a, struct complex b)
{
    return (struct complex){.re = a.re * b.re - a.im * b.im, .im = a.re * b.im + a.im * b.re};
}

/*
 * Powers of exp(-2 pi i / points); the first is derived from exp(-pi i) by repeated halving of the
 * angle.
 */
static void fft_make_twiddles(void)
{
    struct complex root = {.re = -1.0, .im = 0.0};
    struct complex power = {.re = 1.0, .im = 0.0};

    for (unsigned int half = 2; half < FFT_POINTS; half *= 2) {
        double cosine = fft_sqrt((1.0 + root.re) / 2.0);

        root.im = -fft_sqrt((1.0 - root.re) / 2.0);
        root.re = cosine;
    }
    for (unsigned int i = 0; i < FFT_POINTS / 2; i++) {
        fft_twiddles[i] = power;
        power = fft_multiply(power, root);
    }
}

static void fft_reorder(struct complex *data)
{
    for (unsigned int i = 0; i < FFT_POINTS; i++) {
        unsigned int reversed = 0;

        for (unsigned int bit = 0; bit < FFT_LOG2; bit++) {
            reversed |= ((i >> bit) & 1U) << (FFT_LOG2 - 1U - bit);
        }
        if (reversed > i) {
            struct complex kept = data[i];

            data[i] = data[reversed];
            data[reversed] = kept;
        }
    }
}

/*
 * In place; `direction` is 1 for the transform and -1 for its inverse times the number of points.
 */
static void fft_transform(struct complex *data, double direction)
{
    fft_reorder(data);
    for (unsigned int size = 2; size <= FFT_POINTS; size *= 2) {
        for (unsigned int i = 0; i < FFT_POINTS / 2; i++) {
            unsigned int k = i % (size / 2);
            struct complex *low = &data[(i / (size / 2)) * size + k];
            struct complex *high = low + size / 2;
            struct complex twiddle = fft_twiddles[k * (FFT_POINTS / size)];
            struct complex product;

            twiddle.im *= direction;
            product = fft_multiply(*high, twiddle);
            *high = (struct complex){.re = low->re - product.re, .im = low->im - product.im};
            *low = (struct complex){.re = low->re + product.re, .im = low->im + product.im};
        }
    }
}

static void fft_round_trip(void)
{
    memcpy(fft_data, fft_input, sizeof(fft_data));
    fft_transform(fft_data, 1.0);
    fft_transform(fft_data, -1.0);
    for (unsigned int i = 0; i < FFT_POINTS; i++) {
        fft_data[i].re /= FFT_POINTS;
        fft_data[i].im /= FFT_POINTS;
    }
}

static bool fft_near(double a, double b)
{
    return a - b < FFT_TOLERANCE && b - a < FFT_TOLERANCE;
}

static void fft_verify(void)
{
    for (unsigned int i = 0; i < FFT_POINTS; i++) {
        if (!fft_near(fft_data[i].re, fft_input[i].re) ||
            !fft_near(fft_data[i].im, fft_input[i].im)) {
            check_fail(&fft_check, "wrong at point", i);
            return;
        }
    }
    if (memcmp(fft_data, fft_reference, sizeof(fft_data)) != 0) {
        check_fail(&fft_check, "not the bits of the reference in round", fft_check.rounds);
        return;
    }
    check_pass(&fft_check);
}

static void fft_task(void *argument)
{
    TickType_t wake = burst_start();

    (void)argument;
    for (;;) {
        uint64_t end = burst_wait(&wake);

        while (csr_read_time() < end) {
            fft_round_trip();
            fft_verify();
        }
    }
}

void fft_check_start(void)
{
    double value = 0.5;

    fft_make_twiddles();
    for (unsigned int i = 0; i < FFT_POINTS; i++) {
        value = value * 1.75 > 1.0 ? value * 1.75 - 1.0 : value * 1.75;
        fft_input[i] = (struct complex){.re = value, .im = 1.0 - value * value};
    }
    fft_round_trip();
    memcpy(fft_reference, fft_data, sizeof(fft_reference));
    check_create_task(fft_task, "fft", NULL, PRIORITY_ARITHMETIC);
}
