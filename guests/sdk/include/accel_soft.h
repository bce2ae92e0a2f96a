/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HW tasks in software (docs/hwtasks.md), for a VM whose accelerator is missing or used by
 * another VM. Each function gives the same output, size and result code as the HW task for every
 * command and every size, and never a fault. Integer arithmetic only; the functions may be called
 * by several tasks at once.
 */
#ifndef GUEST_ACCEL_SOFT_H
#define GUEST_ACCEL_SOFT_H

#include "accel_job.h"

typedef struct accel_result (*accel_soft_fn)(const struct accel_job *job);

/** Bytes that a job writes, for `size` bytes of input. */
#define ACCEL_QAM16_OUTPUT(size) (8U * (size))
#define ACCEL_QAM64_OUTPUT(size) (((8U * (size) + 11U) / 12U) * 8U)
#define ACCEL_FFT512_OUTPUT(size) (((size) + 2047U) / 2048U * 2048U)
#define ACCEL_FFT1024_OUTPUT(size) (((size) + 4095U) / 4096U * 4096U)
#define ACCEL_AES128_OUTPUT(size) (((size) + 7U) / 8U * 8U)
#define ACCEL_G722_ENCODED(size) (((size) / 4U + 7U) / 8U * 8U)
#define ACCEL_G722_DECODED(size) ((4U * (size) + 7U) / 8U * 8U)

/* Commands of the tasks. */
#define ACCEL_AES128_ECB_ENCRYPT 0U
#define ACCEL_AES128_ECB_DECRYPT 1U
#define ACCEL_AES128_CBC_ENCRYPT 2U
#define ACCEL_AES128_CBC_DECRYPT 3U
#define ACCEL_AES128_CTR 4U
#define ACCEL_G722_ENCODE 0U
#define ACCEL_G722_DECODE 1U

struct accel_result accel_soft_qam16(const struct accel_job *job);
struct accel_result accel_soft_qam64(const struct accel_job *job);
struct accel_result accel_soft_fft512(const struct accel_job *job);
struct accel_result accel_soft_fft1024(const struct accel_job *job);
struct accel_result accel_soft_aes128(const struct accel_job *job);
struct accel_result accel_soft_g722(const struct accel_job *job);

#endif
