/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The longest time of a request of an RT app (docs/hardware-io.md, "Requests of RT apps"). The
 * hardware takes part alone: no CPU time of apps is in it.
 */
#include "console.h"
#include "resource.h"
#include "rt_abi.h"
#include "shared.h"

#define MHZ 1000000U
#define PERIODS_MAX (1UL << 26) /* that a request may touch: no product below overflows */

/* The request's channel, and what the other VMs that use it may take from it, cycles. */
struct channel_load {
    const struct shared_image_channel *config;
    /* it may go first at any time, and has no budget; NULL: there is none */
    const struct vm *unlimited;
    /* budgets of those that may go first, and a chunk of each, in a period */
    uint64_t rivals;
    uint64_t budget; /* of the app's VM in a period; 0: no limit */
};

static bool uses(const struct shared_client *c, unsigned index)
{
    return shared_has(c->config->devices, SHARED_FLASH + index) ||
           (index == 0 &&
            shared_has(c->config->devices, SHARED_SPI)); /* whose requests the flash executes */
}

/* Under priorities a lower VM delays a request by the chunk that has begun; equal ones take turns.
 * Otherwise every VM may go first. */
static bool is_rival(const struct channel_load *load, const struct shared_client *own,
                     const struct shared_client *other, unsigned index)
{
    return load->config->policy != SHARED_POLICY_PRIORITY ||
           other->config->priority[index] >= own->config->priority[index];
}

static void add_rival(struct channel_load *load, const struct shared_client *other, unsigned index)
{
    uint32_t budget = load->config->period_cycles != 0 ? other->config->budget[index] : 0;

    if (budget == 0) {
        load->unlimited = other->vm;
    }
    load->rivals += (uint64_t)budget + load->config->chunk_cycles;
}

static struct channel_load load_of(const struct shared_client *own, unsigned index)
{
    struct channel_load load = {.config = &shared.image->channels[index]};

    load.budget = load.config->period_cycles != 0 ? own->config->budget[index] : 0;
    for (unsigned i = 0; i < shared.image->nclients; i++) {
        const struct shared_client *other = &shared.clients[i];

        if (other != own && uses(other, index) && is_rival(&load, own, other, index)) {
            add_rival(&load, other, index);
        }
    }
    return load;
}

static uint64_t divide_up(uint64_t a, uint64_t b)
{
    return (a + b - 1U) / b;
}

/*
 * Returns the longest time of a request that takes `job` cycles alone, or 0 if it touches too many
 * periods. Each of its chunks waits for a comparison of all VMs, and for bursts of other devices.
 * The request waits for one chunk that has begun, again after each stop by its own budget, and for
 * what rivals may take in all periods that it touches: with n periods, own + (n + 1) * rivals <= n
 * * period gives the least n.
 */
static uint64_t longest(const struct channel_load *load, uint64_t job)
{
    const struct shared_image_channel *c = load->config;
    uint64_t own = job + (job / c->least_cycles + 2U) * c->wait_cycles;
    uint64_t stops = load->budget != 0 ? divide_up(own, load->budget) : 0, periods = 0;

    if (stops > PERIODS_MAX) {
        return 0;
    }
    own += (1U + stops) * c->chunk_cycles + stops * c->period_cycles;
    if (load->rivals != 0) {
        periods = divide_up(own + load->rivals, c->period_cycles - load->rivals);
    }
    return periods > PERIODS_MAX ? 0 : own + (periods + 1U) * load->rivals;
}

/* Both round the image's frequency so that a time does not become shorter. */
static uint64_t cycles_of(ticks_t ticks)
{
    return divide_up(ticks, hyp.us) * divide_up(shared.image->clock_hz, MHZ);
}

static ticks_t ticks_of(uint64_t cycles)
{
    return divide_up(cycles, shared.image->clock_hz / MHZ) * hyp.us;
}

/* Why requests to the channel have no bound, or NULL. */
static const char *unbounded(const struct channel_load *load, unsigned index)
{
    if (index == SHARED_ETHERNET_RECEIVE - SHARED_FLASH) {
        return "no time bounds when a frame arrives";
    }
    if (load->config->least_cycles == 0) {
        return "the image does not tell how long its chunks are";
    }
    if (load->unlimited != NULL) {
        return "a VM that it may wait for has no budget: ";
    }
    return load->rivals != 0 && load->rivals >= load->config->period_cycles
               ? "budgets and chunks of other VMs fill its period"
               : NULL;
}

static enum resource_answer refuse(const struct vm *vm, ulong device, const char *why,
                                   const struct vm *other)
{
    console_log_minor("%s: shared device %lu refused for an app: %s%s", vm->config->name, device,
                      why, other != NULL ? other->config->name : "");
    return RESOURCE_SHARED;
}

static enum resource_answer bound_channel(const struct shared_client *own, unsigned index,
                                          ticks_t job, struct resource_wait *wait)
{
    struct channel_load load = load_of(own, index);
    const char *why = unbounded(&load, index);
    uint64_t cycles = why == NULL ? longest(&load, cycles_of(job)) : 0;

    if (why == NULL && cycles == 0) {
        why = "it would take too many periods of its budget";
    }
    wait->longest = ticks_of(cycles);
    return why == NULL ? RESOURCE_BOUNDED
                       : refuse(own->vm, SHARED_FLASH + index, why, load.unlimited);
}

enum resource_answer shared_bound(const struct vm *vm, ulong number, ticks_t job,
                                  struct resource_wait *wait)
{
    const struct shared_client *own = shared_client_of(vm);
    ulong device = number - RT_SHARED_DEVICE;

    if (own == NULL || device >= SHARED_DEVICES ||
        !shared_has(own->config->devices, (unsigned)device)) {
        return RESOURCE_UNKNOWN;
    }
    *wait = (struct resource_wait){.longest = job, .kept = TICKS_NEVER, .direct = true};
    if (device == SHARED_GPIO) { /* each VM has a sequencer of its own */
        return RESOURCE_BOUNDED;
    }
    return device - SHARED_FLASH < SHARED_CHANNELS
               ? bound_channel(own, (unsigned)device - SHARED_FLASH, job, wait)
               : refuse(vm, device, "it takes no requests", NULL);
}
