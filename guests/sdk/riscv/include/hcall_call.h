/* SPDX-License-Identifier: Apache-2.0 */
/* A hypercall on RISC-V: an SBI call with Tessera's extension id. */
#ifndef GUEST_HCALL_CALL_H
#define GUEST_HCALL_CALL_H

#include "hypercall_abi.h"
#include "sbi.h"

static inline struct hcall_ret hcall_call(unsigned long number, unsigned long arg0,
                                          unsigned long arg1, unsigned long arg2)
{
    struct sbi_ret ret = sbi_call(HCALL_EXTENSION, number, arg0, arg1, arg2);

    return (struct hcall_ret){.error = ret.error, .value = (unsigned long)ret.value};
}

/**
 * Guest-physical address of `memory`, for use in a hypercall; translation is off, so it is the
 * same.
 */
static inline unsigned long hcall_address(const volatile void *memory)
{
    return (unsigned long)(uintptr_t)memory;
}

#endif
