/* SPDX-License-Identifier: Apache-2.0 */
/* A hypercall on MIPS32: HYPCALL. */
#ifndef GUEST_HCALL_CALL_H
#define GUEST_HCALL_CALL_H

#include <stdint.h>

#include "hypercall_abi.h"

static inline struct hcall_ret hcall_call(unsigned long number, unsigned long arg0,
                                          unsigned long arg1, unsigned long arg2)
{
    register unsigned long v0 __asm__("$2") = number;
    register unsigned long v1 __asm__("$3");
    register unsigned long a0 __asm__("$4") = arg0;
    register unsigned long a1 __asm__("$5") = arg1;
    register unsigned long a2 __asm__("$6") = arg2;

    __asm__ volatile(".set push\n\t.set virt\n\thypcall\n\t.set pop"
                     : "+r"(v0), "=r"(v1)
                     : "r"(a0), "r"(a1), "r"(a2)
                     : "memory");
    return (struct hcall_ret){.error = (long)v0, .value = v1};
}

/**
 * Guest-physical address of `memory`, for use in a hypercall. `memory` is in KSEG0 or KSEG1, as is
 * all memory of a bare guest.
 */
static inline unsigned long hcall_address(const volatile void *memory)
{
    return (unsigned long)(uintptr_t)memory & 0x1fffffffUL;
}

#endif
