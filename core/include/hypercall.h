/* SPDX-License-Identifier: Apache-2.0 */
/* The hypercall table, filled at boot from the components' lists; the architecture's exit handler
 * calls its entries. abi/ has the numbers of calls and the errors. */
#ifndef HYPERCALL_H
#define HYPERCALL_H

#include "hypercall_abi.h"
#include "types.h"

/* No result: a long call has done a part of its work. The guest repeats the call, registers
 * unchanged, after interrupts have been polled. Guests never see it. */
#define HCALL_AGAIN 1L

/* Runs on the caller's CPU; cpu_self()->current is the caller. */
typedef struct hcall_ret hcall_function(ulong a0, ulong a1, ulong a2, ulong a3, ulong a4, ulong a5);
typedef hcall_function *hcall_fn;

struct vcpu;

/* A call of a component (COMPONENT.hypercalls). */
struct hcall_entry {
    ulong number; /* below HCALL_MAX */
    hcall_fn fn;  /* NULL: the end of the list */
    /* NULL, or records what the trace shows of a successful call in addition to its number: `a0`,
     * its first argument, or `value`, its answer. */
    void (*trace)(const struct vcpu *caller, ulong a0, ulong value);
};

/* The current VCPU's call number `number` returned `ret`: records it. Called while there is a trace
 * only. */
void hypercall_trace(ulong number, ulong a0, struct hcall_ret ret);

/* Fills the table from the components' lists. Returns NULL, or what is wrong (a number out of range
 * or taken twice). */
const char *hypercall_init(void);

/* The functions by number; unused numbers return HCALL_ERR_NOT_SUPPORTED. For architectures that
 * call them from assembly. A component may take the place of another one's function at boot, and
 * call that one. */
extern hcall_fn hypercall_table[HCALL_MAX];

/* Calls number `number`; HCALL_ERR_NOT_SUPPORTED if there is none. */
struct hcall_ret hypercall_dispatch(ulong a0, ulong a1, ulong a2, ulong a3, ulong a4, ulong a5,
                                    ulong number);

/* Calls of core. */
hcall_function info_get_id, info_get_version, watchdog_pet;

#endif
