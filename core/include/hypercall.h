/* SPDX-License-Identifier: Apache-2.0 */
/* The hypercall table. docs/hypercalls.md lists the calls for guests. */
#ifndef HYPERCALL_H
#define HYPERCALL_H

#include "types.h"

/* Numbers of calls; the gaps are reserved for components. */
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

/* No result: a long call has done a part of its work. The guest repeats the call, registers unchanged, after interrupts have
 * been polled. */
#define HCALL_AGAIN 1L

/* Returned in two registers by the ABI of every architecture, as by the SBI. */
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

struct vcpu;

/* Records what the trace shows of a successful call besides its number: `a0`, its first argument, or `value`, its answer. */
struct hcall_tracer {
    ulong number;
    void (*record)(const struct vcpu *caller, ulong a0, ulong value);
};

/* Registers such a function in the file of its call: HYPERCALL_TRACER(HCALL_IPC_SEND_MSG, trace_send). */
#define HYPERCALL_TRACER(number, fn) \
    static const struct hcall_tracer hcall_tracer_##number REGISTER_IN("hypercall_tracers") = {number, fn}

/* The current VCPU's call number `number` returned `ret`: records it. Called while there is a trace only. */
void hypercall_trace(ulong number, ulong a0, struct hcall_ret ret);

/* Fills the table from the registrations. Returns NULL, or what is wrong (a number out of range or taken twice). */
const char *hypercall_init(void);

/* The functions by number; unused numbers return HCALL_ERR_NOT_SUPPORTED. For architectures that call them from assembly. */
extern hcall_fn hypercall_table[HCALL_MAX];

/* Calls number `number`; HCALL_ERR_NOT_SUPPORTED if there is none. */
struct hcall_ret hypercall_dispatch(ulong a0, ulong a1, ulong a2, ulong a3, ulong a4, ulong a5, ulong number);

#endif
