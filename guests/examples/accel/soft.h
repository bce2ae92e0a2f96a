/* SPDX-License-Identifier: Apache-2.0 */
/* HW tasks in software, bit-exact: docs/hwtasks.md. */
#ifndef ACCEL_SOFT_H
#define ACCEL_SOFT_H

#include <stdint.h>

#include "accel.h"

/** Bytes of output of QAM16 for `size` bytes of input. */
#define SOFT_QAM16_OUTPUT(size) (8U * (size))

void soft_qam16(const struct accel_job *job);

/** AES-128, ECB, encryption; the size is a multiple of 16. */
void soft_aes128(const struct accel_job *job);

#endif
