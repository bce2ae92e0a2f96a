/* SPDX-License-Identifier: Apache-2.0 */
/* Advances the time at the polling points of a CPU that loads or ends a VM (testbed_load.h). Owns
 * the time between them and the interrupt of the other CPU. */
#include "testbed_load.h"

#include "arch.h"
#include "host.h"

static struct {
    ticks_t cost;
    ticks_t when; /* of the interrupt, TICKS_NEVER for none */
    unsigned vm;
} load;

/* Another CPU raises an interrupt while this one is loading. */
static void raise_meanwhile(void)
{
    struct cpu *here = host_cpu;

    load.when = TICKS_NEVER;
    host_cpu = cpu_get(0);
    vcpu_raise(&hyp.vms[load.vm].vcpus[0], 1);
    host_cpu = here;
}

static void spend_on_load(void)
{
    if (host_cpu->current != NULL || host_cpu->idle) {
        return;
    }
    host_time += load.cost;
    if (host_time >= load.when) {
        raise_meanwhile();
    }
}

void testbed_load_costs(ticks_t ticks)
{
    load.cost = ticks;
    load.when = TICKS_NEVER;
    host_on_poll = spend_on_load;
}

void testbed_load_raise(ticks_t when, unsigned vm)
{
    load.when = when;
    load.vm = vm;
}

void testbed_load_step(unsigned cpu)
{
    (void)host_step(cpu);
}
