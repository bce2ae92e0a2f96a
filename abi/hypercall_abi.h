/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls of core, and the errors of all hypercalls, as guests see them; docs/hypercalls.md is
 * the reference. The headers of this folder are included by the hypervisor and by the guests' SDK.
 * Assembly may include them: numbers of calls and errors have no suffix.
 */
#ifndef HYPERCALL_ABI_H
#define HYPERCALL_ABI_H

/* Where hypercalls are SBI calls, their extension: firmware-specific space, SBI 2.0 section 18; the
 * low bits are the implementation id 0x545353 ("TSS"). */
#define HCALL_EXTENSION 0x0a545353

/* Numbers of calls; the gaps are reserved for components. */
/* () -> id of the calling VM, from 0, in the order of the system file */
#define HCALL_INFO_GET_ID 0
#define HCALL_WATCHDOG_PET 1 /* () -> period of the VM's watchdog in milliseconds */
/* () -> version of the hypervisor: major << 16 | minor << 8 | patch */
#define HCALL_INFO_GET_VERSION 2
#define HCALL_MAX 64 /* every number is below */

/* SBI error codes, used on every architecture (SBI 2.0, table 1). */
#define HCALL_OK 0
#define HCALL_ERR_FAILED (-1)
#define HCALL_ERR_NOT_SUPPORTED (-2)
#define HCALL_ERR_INVALID_PARAM (-3)
#define HCALL_ERR_DENIED (-4)
#define HCALL_ERR_INVALID_ADDRESS (-5)
#define HCALL_ERR_ALREADY_AVAILABLE (-6)
#define HCALL_ERR_INVALID_STATE (-10) /* from here on SBI 3.0 */
#define HCALL_ERR_BAD_RANGE (-11)

#ifndef __ASSEMBLER__

/* Returned in two registers by the ABI of every architecture, as by the SBI. */
struct hcall_ret {
    long error;          /* HCALL_OK or one of HCALL_ERR_* */
    unsigned long value; /* with an error meaningful only where the call says so */
};

#endif
#endif
