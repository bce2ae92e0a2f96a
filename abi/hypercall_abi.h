/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls of core, and the errors of all hypercalls, as guests see them. The headers of this
 * folder are included by the hypervisor and by the guests' SDK. Assembly may include them: numbers
 * of calls and errors have no suffix.
 *
 * The reference docs/hypercalls.md is made from their comments (`make docs`). A title in dashes
 * begins a section, in which
 * - the comment above a call's number, or behind it, has the arguments and, after ->, the value
 *   that is returned; then lines `- ERROR (value): meaning`, and text;
 * - a comment `Values with ERROR of CALL.` describes the constants up to the next empty line;
 * - a comment with an empty line after it is text of the section, before or behind its calls.
 * Structures that these comments name are shown.
 */
#ifndef HYPERCALL_ABI_H
#define HYPERCALL_ABI_H

/* Where hypercalls are SBI calls, their extension: firmware-specific space, SBI 2.0 section 18; the
 * low bits are the implementation id 0x545353 ("TSS"). */
#define HCALL_EXTENSION 0x0a545353

/* --- Base --- */
/* () -> id of the calling VM, from 0, in the order of the system file */
#define HCALL_INFO_GET_ID 0
/* () -> period of the VM's watchdog in milliseconds
 * - HCALL_ERR_DENIED: the VM has no watchdog, or the caller is an RT app
 *
 * Restarts the period of the watchdog of a VM with `watchdog-ms`
 * (docs/virtual-platform.md#restarts), from any VCPU of the VM. */
#define HCALL_WATCHDOG_PET 1
/* () -> version of Tessera: major << 16, minor << 8, patch */
#define HCALL_INFO_GET_VERSION 2

/* --- Limit, and errors of all calls --- */
#define HCALL_MAX 64 /* every number is below; gaps are reserved for components */

/* SBI error codes, used on every architecture (SBI 2.0, table 1; the last two SBI 3.0). */
#define HCALL_OK 0 /* success */
/* not now: the queue is full, no message waits, no app slot is free; or refused by admission */
#define HCALL_ERR_FAILED (-1)
#define HCALL_ERR_NOT_SUPPORTED (-2) /* no such call */
/* no such VM, VCPU, app, device or overlay; a wrong value or size */
#define HCALL_ERR_INVALID_PARAM (-3)
#define HCALL_ERR_DENIED (-4)            /* the system file does not allow it */
#define HCALL_ERR_INVALID_ADDRESS (-5)   /* the buffer is not memory of the VM */
#define HCALL_ERR_ALREADY_AVAILABLE (-6) /* done already */
#define HCALL_ERR_INVALID_STATE (-10)    /* the VM, VCPU, app or device is in another state */
#define HCALL_ERR_BAD_RANGE (-11)        /* size or time out of range */

#ifndef __ASSEMBLER__

/* Returned in two registers by the ABI of every architecture, as by the SBI. */
struct hcall_ret {
    long error;          /* HCALL_OK or one of HCALL_ERR_* */
    unsigned long value; /* with an error meaningful only where the call says so */
};

#endif
#endif
