/* SPDX-License-Identifier: Apache-2.0 */
/* A job of the G.722 task is a signal of its own: the codec starts from its reset. */
#include <string.h>

#include "accel_soft.h"
#include "g722.h"

#define ODD 1U     /* result: an odd number of samples */
#define UNKNOWN 2U /* result: unknown command */

static struct accel_result padded(const struct accel_job *job, uint32_t used, uint32_t size)
{
    memset((uint8_t *)job->output + used, 0, size - used);
    return (struct accel_result){.size = size};
}

static struct accel_result encode(const struct accel_job *job)
{
    struct g722_encoder encoder;
    uint32_t octets = job->size / 4U;

    g722_encoder_init(&encoder);
    g722_encode(&encoder, job->input, job->output, octets);
    return padded(job, octets, ACCEL_G722_ENCODED(job->size));
}

static struct accel_result decode(const struct accel_job *job)
{
    struct g722_decoder decoder;

    g722_decoder_init(&decoder);
    g722_decode(&decoder, job->input, job->output, job->size);
    return padded(job, 4U * job->size, ACCEL_G722_DECODED(job->size));
}

struct accel_result accel_soft_g722(const struct accel_job *job)
{
    if (job->command == ACCEL_G722_DECODE) {
        return decode(job);
    }
    if (job->command != ACCEL_G722_ENCODE) {
        return (struct accel_result){.code = UNKNOWN};
    }
    return job->size % 4U != 0 ? (struct accel_result){.code = ODD} : encode(job);
}
