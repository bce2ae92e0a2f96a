/* SPDX-License-Identifier: Apache-2.0 */
/* Result of firmware calls and hypercalls, on every architecture: an SBI error and a value. */
#ifndef GUEST_SBI_RET_H
#define GUEST_SBI_RET_H

#define SBI_SUCCESS 0L
#define SBI_ERR_NOT_SUPPORTED (-2L)

struct sbi_ret {
    long error; /* SBI_SUCCESS or one of the negative SBI_ERR_* */
    long value; /* meaningful with an error only where the call says so */
};

#endif
