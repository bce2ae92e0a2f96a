/* SPDX-License-Identifier: Apache-2.0 */
/* The tasks QAM16 and QAM64 in software (accel_soft.h). */
#include "accel_soft.h"

/* Levels for the bits of an axis, the first bit the lowest: Gray code, 14 fractional bits, mean
 * power 1 (the odd levels divided by the square roots of 10 and 42). */
static const int16_t axis16[4] = {-15543, 15543, -5181, 5181};
static const int16_t axis64[8] = {-17697, 17697, -2528, 2528, -12641, 12641, -7584, 7584};

/* The bits of the input, the lowest of each byte first; zeros after its end. */
struct bits {
    const uint8_t *next, *end;
    uint32_t held, count;
};

static uint32_t take(struct bits *b, uint32_t count)
{
    uint32_t value;

    while (b->count < count) {
        b->held |= b->next < b->end ? (uint32_t)*b->next << b->count : 0;
        b->next += b->next < b->end ? 1 : 0;
        b->count += 8;
    }
    value = b->held & ((1U << count) - 1U);
    b->held >>= count;
    b->count -= count;
    return value;
}

static struct accel_result map(const struct accel_job *job, uint32_t axis_bits, const int16_t *axis)
{
    struct bits bits = {.next = job->input, .end = (const uint8_t *)job->input + job->size};
    uint64_t values = (UINT64_C(8) * job->size + 2U * axis_bits - 1U) / (2U * axis_bits) * 2U;
    int16_t *out = job->output;
    uint64_t i;

    for (i = 0; i < values; i++) {
        out[i] = axis[take(&bits, axis_bits)];
    }
    for (; i % 4 != 0; i++) {
        out[i] = 0; /* the second symbol of the last beat */
    }
    return (struct accel_result){.size = (uint32_t)(2U * i)};
}

struct accel_result accel_soft_qam16(const struct accel_job *job)
{
    return map(job, 2, axis16);
}

struct accel_result accel_soft_qam64(const struct accel_job *job)
{
    return map(job, 3, axis64);
}
