/* SPDX-License-Identifier: Apache-2.0 */
/* Tessera's hypercalls from C. Without a hypervisor they return HCALL_ERR_NOT_SUPPORTED. */
#ifndef GUEST_HCALL_H
#define GUEST_HCALL_H

#include <stdbool.h>

#include "hcall_call.h"
#include "hypercall_abi.h"

/**
 * HCALL_INFO_GET_ID: value = id of the calling VM, 0 .. number of VMs - 1, in the order of the
 * system file.
 */
static inline struct hcall_ret hcall_get_id(void)
{
    return hcall_call(HCALL_INFO_GET_ID, 0, 0, 0);
}

/** HCALL_INFO_GET_VERSION: value = version of Tessera: major << 16 | minor << 8 | patch. */
static inline struct hcall_ret hcall_get_version(void)
{
    return hcall_call(HCALL_INFO_GET_VERSION, 0, 0, 0);
}

/**
 * HCALL_WATCHDOG_PET: restarts the period of the VM's watchdog; value: the period in milliseconds.
 * HCALL_ERR_DENIED: the VM has no watchdog, or the caller is an RT app.
 */
static inline struct hcall_ret hcall_watchdog_pet(void)
{
    return hcall_call(HCALL_WATCHDOG_PET, 0, 0, 0);
}

/** True in a Tessera VM. */
static inline bool hcall_present(void)
{
    return hcall_get_id().error == HCALL_OK;
}

/** The same call written in assembly (hcall_example.S): the id, or a negative error. */
long hcall_get_id_asm(void);

#endif
