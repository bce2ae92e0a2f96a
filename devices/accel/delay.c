/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The longest time from the first write of a job to a device until the job begins, for admission
 * (docs/real-time.md, "Devices").
 *
 * FRED (Biondi, Balsini, Pagani, Rossi, Marinoni, Buttazzo, RTSS 2016) has the same terms: slots,
 * and one ICAP with a FIFO queue. There a request waits for the jobs of others, which are not
 * preempted; here a job stops at its next consistency point, so that a device whose priority is
 * above those of all others in its regions waits for one stop, and for the configuration that
 * follows it. All terms are constant after boot.
 */
#include "accel.h"

#include "console.h"
#include "system.h"

#define SOLUTIONS 8U /* of the search list that the fabric queues */
/* of events that accel_interrupt() handles one after the other, updates and solutions aside */
#define KINDS 3U
/* to answer a request, or to try the first entry of the list after a change of regions */
#define LIST_CYCLES 16U
/* of a region that stops: the FIFOs of its DMA, and a burst in progress in each direction */
#define DRAIN_BEATS 160U
#define NS_PER_US 1000U

/* Of a device of a client; `wait` is the longest time of a job. */
static struct bound {
    ticks_t wait;
    /* least priority of the device that is above those of its rivals */
    uint32_t needed;
    const struct vm *rival;                     /* whose device needs it, or NULL */
} bounds[ACCEL_MAX_CLIENTS][ACCEL_MAX_DEVICES]; /* owner: accel_delay_init(); constant after boot */

/* The ICAP's words: half a beat of the memory in each cycle, which it shares with the other
 * regions' DMA in turn. */
static uint64_t configure_cycles(const struct accel_image_bitstream *b)
{
    uint64_t words = (uint64_t)(b->size / 4U) << (b->verify != 0);

    return (accels.nregions > 2U ? (words * accels.nregions + 1U) / 2U : words) +
           ACCEL_CONFIGURE_CYCLES;
}

/* The longest configuration of a region; 0 if it has no bitstream. */
static uint64_t longest_configuration(unsigned region)
{
    uint64_t longest = 0;

    for (unsigned i = 0; i < ACCEL_MAX_DEVICES; i++) {
        const struct accel_image_bitstream *b = accels.streams[i][region];
        uint64_t cycles = b == NULL ? 0 : configure_cycles(b);

        longest = cycles > longest ? cycles : longest;
    }
    return longest;
}

/* To restore a job, to stop it and to save it. A device without a declared time has the fabric's
 * limit for each of the three. While the task waits for memory, every other region and the ICAP get
 * as many beats. */
static uint64_t stop_cycles(unsigned device)
{
    const struct accel_image_device *d = accel_table(accels.image->devices_offset);
    uint64_t sharing = accels.nregions + 1U;

    return DRAIN_BEATS * sharing + (d[device].stop_cycles == 0
                                        ? 3U * (uint64_t)accels.image->stop_cycles
                                        : 2U * d[device].stop_cycles * sharing);
}

/* The longest stop in one of the `regions`. */
static uint64_t longest_stop(unsigned regions)
{
    uint64_t longest = 0;

    for (unsigned i = 0; i < accels.image->ndevices; i++) {
        uint64_t cycles = (accels.usable[i] & regions) != 0 ? stop_cycles(i) : 0;

        longest = cycles > longest ? cycles : longest;
    }
    return longest;
}

/* What a request takes at most: cycles of the fabric, events that the manager has to handle, and
 * sections in addition to those of the events. */
struct path {
    uint64_t cycles;   /* of the fabric */
    uint64_t events;   /* number */
    uint64_t sections; /* number */
};

/* The longest wait in the ICAP's queue: a configuration of each region, the device's own
 * included. */
static void add_turn(struct path *p)
{
    for (unsigned i = 0; i < accels.nregions; i++) {
        uint64_t cycles = longest_configuration(i);

        p->cycles += cycles;
        p->events += cycles != 0;
    }
}

/* START was written when the region had just been given away: the event that reports it, then
 * accel_continue(), a timer, after the system's other timers, finds the job and requests a region:
 * after those of all other devices, each of which may have to request again for each region. */
static void add_loss(struct path *p)
{
    const struct accel_image *image = accels.image;

    p->events += 2U;
    p->sections += image->timers + accels.nregions + SYSIMAGE_MAX_VCPUS / ACCEL_RESUMED_AT_ONCE +
                   (accels.nregions + 1U) * (uint64_t)image->naccels + image->nclients;
}

/* The device waits for a region that another one is getting: its last job is stopped, it is
 * configured, and goes to the device. */
static void add_rival(struct path *p, unsigned regions)
{
    p->cycles += longest_stop(regions);
    p->events += 2U; /* the region is stopped; the search list has a solution */
    add_turn(p);
}

static ticks_t ticks_of(uint64_t ns)
{
    return (ns * hyp.us + NS_PER_US - 1U) / NS_PER_US;
}

/* For each event: a section that keeps the interrupt pending, the other interrupts, and the events
 * that the fabric has at the time. */
static ticks_t time_of(const struct path *p)
{
    const struct accel_image *image = accels.image;
    uint64_t sections =
        p->sections + p->events * (KINDS + accels.nregions + SOLUTIONS + image->sources);
    uint64_t cycles = p->cycles + p->events * (LIST_CYCLES + image->interrupt_cycles);

    return ticks_of((cycles * 1000000U + image->clock_khz - 1U) / image->clock_khz +
                    sections * image->section_ns + p->events * hyp.image->rt_blocked_ns);
}

/* For so long a region in Hold waits until the manager has connected its device and the job
 * begins. */
static ticks_t hold_ticks(void)
{
    const struct accel_image *image = accels.image;

    return (uint64_t)image->hold_cycles * 1000000U / image->clock_khz * hyp.us / NS_PER_US;
}

static void note_rival(struct bound *b, const struct accel *rival)
{
    uint32_t needed =
        rival->client->config->may_raise != 0 ? ~UINT32_C(0) : rival->config->priority + 1U;

    if (needed > b->needed) {
        b->needed = needed;
        b->rival = rival->client->vm;
    }
}

/* Notes the devices of the client that can use the same regions. */
static void find_rivals(struct bound *b, const struct accel *a, const struct accel_vm *c)
{
    for (unsigned i = 0; i < ACCEL_MAX_DEVICES; i++) {
        const struct accel *rival = c->accels[i];

        if (rival != NULL && rival != a &&
            (accels.usable[i] & accels.usable[a->config->device]) != 0) {
            note_rival(b, rival);
        }
    }
}

static void set_bound(struct bound *b, const struct accel *a)
{
    struct path p = {0};

    for (unsigned i = 0; i < accels.image->nclients; i++) {
        find_rivals(b, a, &accels.clients[i]);
    }
    add_loss(&p);
    if (b->rival != NULL) {
        add_rival(&p, accels.usable[a->config->device]);
    }
    add_turn(&p);
    b->wait = time_of(&p);
}

void accel_delay_init(void)
{
    for (unsigned c = 0; c < accels.image->nclients; c++) {
        for (unsigned d = 0; d < ACCEL_MAX_DEVICES; d++) {
            bounds[c][d] = (struct bound){0};
            if (accels.clients[c].accels[d] != NULL) {
                set_bound(&bounds[c][d], accels.clients[c].accels[d]);
            }
        }
    }
}

/* An overlay that another VM than the device's may apply at any time, or NULL. It can keep the
 * device's regions, or the ICAP. */
static const struct accel_image_overlay *foreign_overlay(const struct accel *a)
{
    const struct accel_image_overlay *overlays = accel_table(accels.image->overlays_offset);

    for (unsigned i = 0; i < accels.image->noverlays; i++) {
        if ((overlays[i].controllers & ~(1U << a->client->vm->id)) != 0) {
            return &overlays[i];
        }
    }
    return NULL;
}

/* Of a device in this state. */
static enum resource_answer answer_of(const struct accel *a, const struct bound *b)
{
    if (a->state == ACCEL_FAILED) {
        return RESOURCE_FAILED;
    }
    if (a->model != ACCEL_IMAGE_MODEL_GUEST) {
        return RESOURCE_BLOCKS;
    }
    if (hyp.ncpus > 1) {
        return RESOURCE_CPUS; /* accels.deferred_timer expires on the CPU that has left the work */
    }
    return a->priority < b->needed || foreign_overlay(a) != NULL ? RESOURCE_SHARED
                                                                 : RESOURCE_BOUNDED;
}

static void report_shared(const struct accel *a, const struct bound *b)
{
    const struct accel_image_device *devices = accel_table(accels.image->devices_offset);
    const struct accel_image_overlay *overlay = foreign_overlay(a);
    const char *vm = a->client->vm->config->name, *device = devices[a->config->device].name;

    if (overlay != NULL) {
        console_log_minor("%s: %s refused for an app: another VM may apply overlay %s", vm, device,
                          overlay->name);
    } else {
        console_log_minor("%s: %s refused for an app: %s has, or may get, at least its priority in "
                          "the same regions",
                          vm, device, b->rival->config->name);
    }
}

enum resource_answer accel_bound(const struct vm *vm, ulong number, ticks_t job,
                                 struct resource_wait *wait)
{
    const struct accel *a = accel_of(vm, number);
    const struct bound *b;
    enum resource_answer answer;

    if (a == NULL) {
        return RESOURCE_UNKNOWN;
    }
    b = &bounds[a->client->number][number];
    spin_lock(&accels.lock);
    answer = a->present ? answer_of(a, b) : RESOURCE_UNKNOWN;
    accel_unlock();
    if (answer == RESOURCE_SHARED) {
        report_shared(a, b);
    }
    *wait = (struct resource_wait){.longest = b->wait + job, .kept = hold_ticks()};
    return answer;
}
