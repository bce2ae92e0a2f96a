/* SPDX-License-Identifier: Apache-2.0 */
#include "hypercall.h"

#include "cpu.h"
#include "trace.h"
#include "vm.h"

extern const struct hcall_entry __start_hypercalls[], __stop_hypercalls[];
extern const struct hcall_tracer __start_hypercall_tracers[], __stop_hypercall_tracers[];

hcall_fn hypercall_table[HCALL_MAX]; /* owner: hypercall_init() */

static struct hcall_ret no_such_call(ulong a0, ulong a1, ulong a2, ulong a3, ulong a4, ulong a5)
{
    (void)a0, (void)a1, (void)a2, (void)a3, (void)a4, (void)a5;
    return (struct hcall_ret){HCALL_ERR_NOT_SUPPORTED, 0};
}

const char *hypercall_init(void)
{
    for (unsigned i = 0; i < HCALL_MAX; i++) {
        hypercall_table[i] = no_such_call;
    }
    for (const struct hcall_entry *e = __start_hypercalls; e < __stop_hypercalls; e++) {
        if (e->number >= HCALL_MAX || hypercall_table[e->number] != no_such_call) {
            return "a hypercall's number is out of range or taken twice";
        }
        hypercall_table[e->number] = e->fn;
    }
    return NULL;
}

struct hcall_ret hypercall_dispatch(ulong a0, ulong a1, ulong a2, ulong a3, ulong a4, ulong a5,
                                    ulong number)
{
    return (number < HCALL_MAX ? hypercall_table[number] : no_such_call)(a0, a1, a2, a3, a4, a5);
}

void hypercall_trace(ulong number, ulong a0, struct hcall_ret ret)
{
    const struct vcpu *caller = cpu_self()->current;

    trace(TRACE_HYPERCALL, caller, (uint32_t)number | (uint64_t)ret.error << 32);
    for (const struct hcall_tracer *t = __start_hypercall_tracers; t < __stop_hypercall_tracers;
         t++) {
        if (ret.error == HCALL_OK && t->number == number) {
            t->record(caller, a0, ret.value);
        }
    }
}

static struct hcall_ret info_get_id(ulong a0, ulong a1, ulong a2, ulong a3, ulong a4, ulong a5)
{
    (void)a0, (void)a1, (void)a2, (void)a3, (void)a4, (void)a5;
    return (struct hcall_ret){HCALL_OK, cpu_self()->current->vm->id};
}
HYPERCALL(HCALL_INFO_GET_ID, info_get_id);
