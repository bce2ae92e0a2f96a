/* SPDX-License-Identifier: Apache-2.0 */
/* The table of hypercalls, filled at boot from the components' lists and constant afterwards. The
 * architecture's exit handler calls what it finds there. */
#include "hypercall.h"

#include "component.h"
#include "cpu.h"
#include "trace.h"
#include "version.h"
#include "vm.h"

hcall_fn hypercall_table[HCALL_MAX]; /* owner: hypercall_init() */
/* owner: hypercall_init(); NULL: nothing but the number */
static void (*traces[HCALL_MAX])(const struct vcpu *caller, ulong a0, ulong value);

static struct hcall_ret no_such_call(ulong a0, ulong a1, ulong a2, ulong a3, ulong a4, ulong a5)
{
    (void)a0, (void)a1, (void)a2, (void)a3, (void)a4, (void)a5;
    return (struct hcall_ret){HCALL_ERR_NOT_SUPPORTED, 0};
}

/* Adds a component's calls. False if a number is out of range or taken. */
static bool add_calls(const struct hcall_entry *e)
{
    for (; e != NULL && e->fn != NULL; e++) {
        if (e->number >= HCALL_MAX || hypercall_table[e->number] != no_such_call) {
            return false;
        }
        hypercall_table[e->number] = e->fn;
        traces[e->number] = e->trace;
    }
    return true;
}

const char *hypercall_init(void)
{
    for (unsigned i = 0; i < HCALL_MAX; i++) {
        hypercall_table[i] = no_such_call;
        traces[i] = NULL;
    }
    FOR_EACH_COMPONENT(c)
    {
        if (!add_calls(c->hypercalls)) {
            return "a hypercall's number is out of range or taken twice";
        }
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
    if (ret.error == HCALL_OK && traces[number] != NULL) { /* so there is such a call */
        traces[number](caller, a0, ret.value);
    }
}

struct hcall_ret info_get_id(ulong a0, ulong a1, ulong a2, ulong a3, ulong a4, ulong a5)
{
    (void)a0, (void)a1, (void)a2, (void)a3, (void)a4, (void)a5;
    return (struct hcall_ret){HCALL_OK, cpu_self()->current->vm->id};
}

struct hcall_ret info_get_version(ulong a0, ulong a1, ulong a2, ulong a3, ulong a4, ulong a5)
{
    (void)a0, (void)a1, (void)a2, (void)a3, (void)a4, (void)a5;
    return (struct hcall_ret){HCALL_OK, TESSERA_VERSION_NUMBER};
}
