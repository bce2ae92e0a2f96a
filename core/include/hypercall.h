/* SPDX-License-Identifier: Apache-2.0 */
/* The hypercall table. docs/virtual-platform.md lists the calls for guests. */
#ifndef HYPERCALL_H
#define HYPERCALL_H

#include "types.h"

/* Numbers of calls; gaps are room for the calls of rt, ipc and fpga. */
#define HCALL_INFO_GET_ID 0U
#define HCALL_WATCHDOG_PET 1U
#define HCALL_MAX 64U

/* SBI error codes, used on every architecture (SBI 2.0, table 1). */
#define HCALL_OK 0L
#define HCALL_ERR_FAILED (-1L)
#define HCALL_ERR_NOT_SUPPORTED (-2L)
#define HCALL_ERR_INVALID_PARAM (-3L)
#define HCALL_ERR_DENIED (-4L)
#define HCALL_ERR_INVALID_ADDRESS (-5L)
#define HCALL_ERR_ALREADY_AVAILABLE (-6L)
#define HCALL_ERR_INVALID_STATE (-10L) /* from here on SBI 3.0 */
#define HCALL_ERR_BAD_RANGE (-11L)

/* Not an answer: a long call has done a piece of its work. The guest makes the call again, registers unchanged, once
 * interrupts have been looked at. */
#define HCALL_AGAIN 1L

/* Returned in two registers on every ABI of ours, which is how the SBI has it. */
struct hcall_ret {
    long error;
    ulong value;
};

typedef struct hcall_ret (*hcall_fn)(ulong a0, ulong a1, ulong a2, ulong a3, ulong a4, ulong a5);

struct hcall_entry {
    ulong number; /* below HCALL_MAX */
    hcall_fn fn;  /* runs on the caller's CPU; cpu_self()->current is the caller */
};

/* Registers a call in its own file: HYPERCALL(HCALL_INFO_GET_ID, info_get_id). */
#define HYPERCALL(number, fn) static const struct hcall_entry hcall_entry_##fn REGISTER_IN("hypercalls") = {number, fn}

/* Fills the table from the registrations. Returns NULL, or what is wrong (a number out of range or taken twice). */
const char *hypercall_init(void);

/* Every call, HCALL_ERR_NOT_SUPPORTED where there is none: for an architecture that makes the calls itself. */
extern hcall_fn hypercall_table[HCALL_MAX];

/* Calls number `number`; HCALL_ERR_NOT_SUPPORTED if there is none. */
struct hcall_ret hypercall_dispatch(ulong a0, ulong a1, ulong a2, ulong a3, ulong a4, ulong a5, ulong number);

#endif
