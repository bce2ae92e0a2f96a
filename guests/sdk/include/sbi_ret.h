/* SPDX-License-Identifier: Apache-2.0 */
/* What calls of firmware and hypervisor return, on every architecture: the SBI's errors, and a value. */
#ifndef GUEST_SBI_RET_H
#define GUEST_SBI_RET_H

#define SBI_SUCCESS 0L
#define SBI_ERR_NOT_SUPPORTED (-2L)

struct sbi_ret {
    long error; /* SBI_SUCCESS or one of the negative SBI_ERR_* */
    long value; /* the call says when it tells something beside an error */
};

#endif
