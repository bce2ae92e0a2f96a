/* SPDX-License-Identifier: Apache-2.0 */
/* An example of a component: a hypercall that counts the calls of its VCPU (docs/porting.md). */
#include "component.h"
#include "cpu.h"
#include "hypercall.h"
#include "system.h"

#define HCALL_TALLY_COUNT 63U

struct tally {
    ulong calls; /* since the VCPU was started; only the CPU that runs the VCPU writes it */
};

/* owner: this file; tallies[n] belongs to hyp.vcpus[n] */
static struct tally tallies[SYSIMAGE_MAX_VCPUS];

/* Gives every VCPU its counter. */
static const char *tally_boot(void)
{
    for (unsigned n = 0; n < SYSIMAGE_MAX_VCPUS; n++) {
        hyp.vcpus[n].data[COMPONENT_TALLY] = &tallies[n];
    }
    return NULL;
}

static void tally_start(struct vcpu *v)
{
    struct tally *t = v->data[COMPONENT_TALLY];

    t->calls = 0;
}

static struct hcall_ret tally_count(ulong a0, ulong a1, ulong a2, ulong a3, ulong a4, ulong a5)
{
    struct tally *t = cpu_self()->current->data[COMPONENT_TALLY];

    (void)a0, (void)a1, (void)a2, (void)a3, (void)a4, (void)a5;
    t->calls++;
    return (struct hcall_ret){HCALL_OK, t->calls};
}

static const struct hcall_entry calls[] = {
    {HCALL_TALLY_COUNT, tally_count, NULL},
    {0, NULL, NULL},
};

COMPONENT(tally, .boot = tally_boot, .vcpu_start = tally_start, .hypercalls = calls);
