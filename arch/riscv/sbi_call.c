/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of the firmware's SBI, whose errors are returned as they are, and the end of the machine by
 * its system reset. It serves the files of arch/riscv. */
#include "arch.h"
#include "internal.h"
#include "platform.h"

struct hcall_ret sbi_call(ulong eid, ulong fid, ulong a0, ulong a1, ulong a2)
{
    register ulong r0 __asm__("a0") = a0;
    register ulong r1 __asm__("a1") = a1;
    register ulong r2 __asm__("a2") = a2;
    register ulong r6 __asm__("a6") = fid;
    register ulong r7 __asm__("a7") = eid;

    __asm__ volatile("ecall" : "+r"(r0), "+r"(r1) : "r"(r2), "r"(r6), "r"(r7) : "memory");
    return (struct hcall_ret){(long)r0, r1};
}

#define SRST_SHUTDOWN 0UL
#define SRST_REASON_NONE 0UL
#define SRST_REASON_FAILURE 1UL

void arch_shutdown(bool failure)
{
    /* owner: this function; platform_fail() may trap and must not be repeated */
    static bool failing;

    if (failure && !failing) {
        failing = true;
        platform_fail();
    }
    sbi_call(SBI_EXT_SRST, SBI_SRST_SYSTEM_RESET, SRST_SHUTDOWN,
             failure ? SRST_REASON_FAILURE : SRST_REASON_NONE, 0);
    for (;;) { /* firmware without SRST */
        __asm__ volatile("wfi");
    }
}
