/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SBI calls, to OpenSBI natively and to the hypervisor in a VM. Names and numbers as in the
 * specification.
 */
#ifndef GUEST_SBI_H
#define GUEST_SBI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hypercall_abi.h"

#define SBI_LEGACY_PUTCHAR 1UL
#define SBI_EXT_BASE 0x10UL
#define SBI_EXT_TIME 0x54494d45UL
#define SBI_EXT_IPI 0x735049UL
#define SBI_EXT_RFENCE 0x52464e43UL
#define SBI_EXT_HSM 0x48534dUL
#define SBI_EXT_SRST 0x53525354UL
#define SBI_EXT_DBCN 0x4442434eUL

#define SBI_BASE_GET_SPEC_VERSION 0UL
#define SBI_BASE_PROBE 3UL

/* Hypercalls have the errors of the SBI (HCALL_OK, HCALL_ERR_*). */
struct sbi_ret {
    long error;
    long value; /* meaningful with an error only where the call says so */
};

enum sbi_reset_type {
    SBI_RESET_SHUTDOWN = 0,
    SBI_RESET_COLD = 1,
    SBI_RESET_WARM = 2
};
enum sbi_reset_reason {
    SBI_RESET_NO_REASON = 0,
    SBI_RESET_SYSTEM_FAILURE = 1
};

/*
 * The harts an IPI or a fence goes to: bit n of mask is hart base + n; base of all ones is every
 * hart.
 */
struct sbi_harts {
    unsigned long mask;
    unsigned long base;
};

/** One call with up to three arguments. The SBI preserves all registers but a0 and a1. */
static inline struct sbi_ret sbi_call(unsigned long extension, unsigned long function,
                                      unsigned long arg0, unsigned long arg1, unsigned long arg2)
{
    register unsigned long a0 __asm__("a0") = arg0;
    register unsigned long a1 __asm__("a1") = arg1;
    register unsigned long a2 __asm__("a2") = arg2;
    register unsigned long a6 __asm__("a6") = function;
    register unsigned long a7 __asm__("a7") = extension;

    __asm__ volatile("ecall" : "+r"(a0), "+r"(a1) : "r"(a2), "r"(a6), "r"(a7) : "memory");
    return (struct sbi_ret){.error = (long)a0, .value = (long)a1};
}

/** Version of the SBI: major << 24 | minor. */
unsigned long sbi_spec_version(void);

/** True if the extension is available. */
bool sbi_probe(unsigned long extension);

/**
 * Timer interrupt at `deadline` (in ticks of the time CSR); a pending one is cleared. UINT64_MAX:
 * never.
 */
struct sbi_ret sbi_set_timer(uint64_t deadline);

struct sbi_ret sbi_send_ipi(struct sbi_harts harts);

/** fence.i on `harts`. */
struct sbi_ret sbi_remote_fence_i(struct sbi_harts harts);

/** sfence.vma on `harts` for `size` bytes from `start`; both 0: everything. */
struct sbi_ret sbi_remote_sfence_vma(struct sbi_harts harts, unsigned long start,
                                     unsigned long size);

/** sbi_remote_sfence_vma() for one address space. */
struct sbi_ret sbi_remote_sfence_vma_asid(struct sbi_harts harts, unsigned long start,
                                          unsigned long size, unsigned long asid);

/** Start a stopped hart at physical address `entry`, with a0 = its id and a1 = `opaque`. */
struct sbi_ret sbi_hart_start(unsigned long hart, unsigned long entry, unsigned long opaque);

/** Stop the calling hart; returns only on failure. */
struct sbi_ret sbi_hart_stop(void);

/** State of a hart: 0 started, 1 stopped, 2 and 3 on the way (value). */
struct sbi_ret sbi_hart_status(unsigned long hart);

/** Reset or shut down the machine or the VM; returns only on failure. */
struct sbi_ret sbi_system_reset(enum sbi_reset_type type, enum sbi_reset_reason reason);

/**
 * Write bytes to the debug console; value is the number of bytes written. HCALL_ERR_NOT_SUPPORTED
 * before SBI 2.0.
 */
struct sbi_ret sbi_console_write(const char *bytes, size_t count);

/** Shut down; if the SBI refuses, sleeps with interrupts off. */
_Noreturn void sbi_shutdown(enum sbi_reset_reason reason);

#endif
