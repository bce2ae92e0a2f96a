/* SPDX-License-Identifier: Apache-2.0 */
/* Tessera's hypercalls from C. Natively the SBI answers them with SBI_ERR_NOT_SUPPORTED. */
#ifndef GUEST_HCALL_H
#define GUEST_HCALL_H

#include "hcall_asm.h"
#include "sbi.h"

/** HCALL_INFO_GET_ID: value = id of the calling VM, 0 .. number of VMs - 1, in the order of the system file. */
static inline struct sbi_ret hcall_get_id(void)
{
    register unsigned long a0 __asm__("a0");
    register unsigned long a1 __asm__("a1");
    register unsigned long a6 __asm__("a6") = HCALL_INFO_GET_ID;
    register unsigned long a7 __asm__("a7") = HCALL_EXTENSION;

    __asm__ volatile("ecall" : "=r"(a0), "=r"(a1) : "r"(a6), "r"(a7) : "memory");
    return (struct sbi_ret){.error = (long)a0, .value = (long)a1};
}

/**
 * HCALL_WATCHDOG_PET: the VM's watchdog begins a new period, whose milliseconds are the value. Error -4: the VM has no
 * watchdog, or the caller is an RT app.
 */
static inline struct sbi_ret hcall_watchdog_pet(void)
{
    return sbi_call(HCALL_EXTENSION, HCALL_WATCHDOG_PET, 0, 0, 0);
}

/** True in a Tessera VM. */
static inline bool hcall_present(void)
{
    return sbi_probe(HCALL_EXTENSION);
}

/** The same call written in assembly (hcall_example.S): the id, or a negative SBI error. */
long hcall_get_id_asm(void);

#endif
