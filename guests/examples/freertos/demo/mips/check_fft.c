/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arithmetic, part one: Fourier transforms and their inverses in the integers modulo a prime,
 * because the processor has no FPU. The result must equal the input, and the transform must equal
 * that computed before the scheduler started, without context switches. Every multiplication uses
 * HI and LO.
 */
#include <string.h>

#include "FreeRTOS.h"
#include "burst.h"
#include "check.h"
#include "task.h"

#define FFT_POINTS 64U
#define FFT_LOG2 6U
#define FFT_PRIME 998244353U         /* 119 * 2^23 + 1 */
#define FFT_ROOT_64 922799308U       /* 3^((prime - 1) / 64): its powers are all 64th roots of 1 */
#define FFT_MINUS_INVERSE 998244351U /* -1 / prime modulo 2^32 */
#define FFT_SQUARE 932051910U        /* 2^64 modulo the prime */

struct check fft_check = {.name = "fft", .needed = 100};

static uint32_t fft_twiddles[FFT_POINTS];
static uint32_t fft_input[FFT_POINTS];
static uint32_t fft_reference[FFT_POINTS];
static uint32_t fft_between[FFT_POINTS];
static uint32_t fft_data[FFT_POINTS];

/* Montgomery product: a * b / 2^32 modulo the prime, without a division. */
static uint32_t fft_product(uint32_t a, uint32_t b)
{
    uint64_t product = (uint64_t)a * b;
    uint32_t factor = (uint32_t)product * FFT_MINUS_INVERSE;
    uint32_t result = (uint32_t)((product + (uint64_t)factor * FFT_PRIME) >> 32);

    return result >= FFT_PRIME ? result - FFT_PRIME : result;
}

static uint32_t fft_multiply(uint32_t a, uint32_t b)
{
    return fft_product(fft_product(a, b), FFT_SQUARE);
}

static uint32_t fft_add(uint32_t a, uint32_t b)
{
    uint32_t sum = a + b;

    return sum >= FFT_PRIME ? sum - FFT_PRIME : sum;
}

static void fft_make_twiddles(void)
{
    uint32_t power = 1;

    for (unsigned int i = 0; i < FFT_POINTS; i++) {
        fft_twiddles[i] = power;
        power = fft_multiply(power, FFT_ROOT_64);
    }
    configASSERT(power == 1 && fft_twiddles[FFT_POINTS / 2] == FFT_PRIME - 1);
}

static void fft_reorder(uint32_t *data)
{
    for (unsigned int i = 0; i < FFT_POINTS; i++) {
        unsigned int reversed = 0;

        for (unsigned int bit = 0; bit < FFT_LOG2; bit++) {
            reversed |= ((i >> bit) & 1U) << (FFT_LOG2 - 1U - bit);
        }
        if (reversed > i) {
            uint32_t kept = data[i];

            data[i] = data[reversed];
            data[reversed] = kept;
        }
    }
}

/*
 * In place; `direction` is 1 for the transform and FFT_POINTS - 1 for its inverse times the number
 * of points.
 */
static void fft_transform(uint32_t *data, unsigned int direction)
{
    fft_reorder(data);
    for (unsigned int size = 2; size <= FFT_POINTS; size *= 2) {
        for (unsigned int i = 0; i < FFT_POINTS / 2; i++) {
            unsigned int k = i % (size / 2);
            uint32_t *low = &data[(i / (size / 2)) * size + k];
            uint32_t *high = low + size / 2;
            uint32_t product =
                fft_multiply(*high, fft_twiddles[k * (FFT_POINTS / size) * direction % FFT_POINTS]);

            *high = fft_add(*low, FFT_PRIME - product);
            *low = fft_add(*low, product);
        }
    }
}

static void fft_round_trip(void)
{
    memcpy(fft_data, fft_input, sizeof(fft_data));
    fft_transform(fft_data, 1);
    memcpy(fft_between, fft_data, sizeof(fft_between));
    fft_transform(fft_data, FFT_POINTS - 1);
}

static void fft_verify(void)
{
    for (unsigned int i = 0; i < FFT_POINTS; i++) {
        if (fft_data[i] != fft_multiply(fft_input[i], FFT_POINTS)) {
            check_fail(&fft_check, "wrong at point", i);
            return;
        }
    }
    if (memcmp(fft_between, fft_reference, sizeof(fft_between)) != 0) {
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

        while (machine_time() < end) {
            fft_round_trip();
            fft_verify();
        }
    }
}

void fft_check_start(void)
{
    uint32_t value = 1;

    fft_make_twiddles();
    for (unsigned int i = 0; i < FFT_POINTS; i++) {
        value = value * 1664525U + 1013904223U;
        fft_input[i] = value % FFT_PRIME;
    }
    fft_round_trip();
    memcpy(fft_reference, fft_between, sizeof(fft_reference));
    check_create_task(fft_task, "fft", NULL, PRIORITY_ARITHMETIC);
}
