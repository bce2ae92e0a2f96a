/* SPDX-License-Identifier: Apache-2.0 */
/* Makes and boots systems with a fabric, executes the VMs' accesses, and checks the manager's
 * invariants (testbed_accel.h). Owns the options of the next boots and the functions that access
 * the fabric. */
#include "testbed_accel.h"

#include <string.h>

#include "arch.h"
#include "blake2b.h"
#include "component.h"
#include "host.h"
#include "overlay.h"
#include "platform.h"
#include "sched.h"
#include "virtio_image.h"

#define BITSTREAM_WORDS 64U
#define TAG_WORDS 8U
#define FRAMES 0x100U /* addresses of each region */
#define STORE_TRIES 8U
#define BUS_ADDRESSES (UINT64_C(1) << 41) /* AddrWidth of fabric_pkg.sv */

static struct {
    uint64_t (*read)(uint64_t offset, unsigned bytes);
    void (*write)(uint64_t offset, unsigned bytes, uint64_t value);
} fabric; /* owner: testbed_accel_boot() */

static testbed_accel_edit_t *edit_next; /* owner: testbed_accel_edit() */
static bool may_raise_next = true;      /* owner: testbed_accel_declare(), as are the next two */
static unsigned top_next = ~0U;
static unsigned stop_cycles_next;
static uint32_t idcode_next;               /* owner: testbed_accel_idcode() */
static bool overlays_next;                 /* owner: testbed_accel_overlays() */
static bool functions_next;                /* owner: testbed_accel_functions() */
static unsigned vcpus_next = 1;            /* owner: testbed_accel_vcpus() */
static struct testbed_image *booted_image; /* owner: testbed_accel_boot() */

_Static_assert(TESTBED_STREAMS >= TESTBED_ACCEL_DEVICES * TESTBED_ACCEL_REGIONS, "one for each");
_Static_assert(TESTBED_STREAM_WORDS * 2U == BITSTREAM_WORDS + TAG_WORDS, "a tag follows each");

/* The section, as the image builder lays it out. */
struct section {
    struct accel_image header;
    struct accel_image_frames frames[TESTBED_ACCEL_REGIONS];
    struct accel_image_client clients[4];
    struct accel_image_device devices[TESTBED_ACCEL_DEVICES];
    struct accel_image_bitstream bitstreams[TESTBED_ACCEL_DEVICES * TESTBED_ACCEL_REGIONS];
    struct accel_image_accel accels[4 * TESTBED_ACCEL_DEVICES];
    struct accel_image_overlay overlays[2];
    struct accel_image_fragment fragments[3];
    struct accel_image_provided provided[2];
};
/* That of PCI functions, behind it. */
struct function_section {
    struct virtio_image header;
    struct virtio_image_function functions[2 * TESTBED_ACCEL_DEVICES];
};
_Static_assert(sizeof(struct section) % 8U == 0 &&
                   sizeof(struct section) + sizeof(struct function_section) <=
                       sizeof(((struct testbed_image *)NULL)->room),
               "the sections fit");

static uint64_t fabric_read(uint64_t at, unsigned bytes)
{
    return fabric.read(at - TESTBED_ACCEL_FABRIC, bytes);
}

static void fabric_write(uint64_t at, unsigned bytes, uint64_t value)
{
    fabric.write(at - TESTBED_ACCEL_FABRIC, bytes, value);
}

static void make_packet(uint32_t *words, uint32_t region, uint32_t task, uint32_t size)
{
    words[0] = 0xc5U << 24 | region << 16 | task << 8;
    words[1] = size - 2U;
    words[2] = region * FRAMES + FRAMES - 1U;
}

/* A bitstream of two packets for the simulated ICAP (docs/fabric.md), with its
 * tag. */
static void make_bitstream(uint32_t words[BITSTREAM_WORDS + TAG_WORDS], uint32_t region,
                           uint32_t task)
{
    words[0] = 0x53494d42U;
    words[1] = region << 24 | task << 16;
    words[2] = BITSTREAM_WORDS - 5U;
    words[3] = crc32((const unsigned char *)words, 12);
    make_packet(words + 4, region, task, 10);
    make_packet(words + 14, region, task, BITSTREAM_WORDS - 15U);
    words[BITSTREAM_WORDS - 1U] =
        crc32((const unsigned char *)(words + 4), 4UL * (BITSTREAM_WORDS - 5U));
    blake2b(words + BITSTREAM_WORDS, 4U * TAG_WORDS, platform_bitstream_key, BITSTREAM_KEY_SIZE,
            words, 4U * BITSTREAM_WORDS);
}

static void make_devices(struct section *s, struct testbed_image *image)
{
    unsigned made = 0;
    struct accel_image_bitstream *b = s->bitstreams;

    for (uint32_t d = 0; d < TESTBED_ACCEL_DEVICES; d++) {
        s->devices[d] = (struct accel_image_device){
            .task = d + 1U, .size_class = d / 2U, .regions = 7, .stop_cycles = stop_cycles_next};
        s->devices[d].name[0] = (char)('a' + d);
        for (uint32_t r = 0; r < TESTBED_ACCEL_REGIONS; r++) {
            make_bitstream((uint32_t *)(void *)image->streams[made], r, d + 1U);
            *b++ = (struct accel_image_bitstream){.device = d,
                                                  .region = r,
                                                  .offset = (uint64_t)(image->streams[made]) -
                                                            (uint64_t)image,
                                                  .size = 4U * BITSTREAM_WORDS,
                                                  .verify = d & 1U};
            made++;
        }
    }
}

static void make_clients(struct section *s, unsigned nvms, uint64_t priorities,
                         unsigned guest_models)
{
    struct accel_image_accel *a = s->accels;

    for (uint32_t i = 0; i < nvms; i++) {
        s->clients[i] =
            (struct accel_image_client){.vm = i, .event_irq = 11, .may_raise = may_raise_next};
        for (uint32_t d = 0; d < TESTBED_ACCEL_DEVICES; d++) {
            *a++ = (struct accel_image_accel){.client = i,
                                              .device = d,
                                              .priority = priorities >> (4U * i) & 15U,
                                              .model = guest_models >> i & 1U,
                                              .gpa = ACCEL_PAGES + d * ACCEL_PAGE};
        }
    }
    if (top_next != ~0U) {
        s->accels[0].priority = top_next;
    }
}

static void make_overlays(struct section *s)
{
    s->overlays[0] = (struct accel_image_overlay){
        .name = "two", .controllers = 1, .nfragments = 2, .nprovided = 2};
    s->overlays[1] = (struct accel_image_overlay){
        .name = "one", .controllers = 1, .first_fragment = 2, .nfragments = 1};
    s->fragments[0] = (struct accel_image_fragment){.region = 0, .device = 1};
    s->fragments[1] = (struct accel_image_fragment){.region = 1, .device = 3};
    s->fragments[2] = (struct accel_image_fragment){.region = 1, .device = 2};
    s->provided[0] =
        (struct accel_image_provided){.client = 1, .device = 1, .status = TESTBED_ACCEL_NODES};
    s->provided[1] = (struct accel_image_provided){
        .client = 1, .device = 3, .status = TESTBED_ACCEL_NODES + TESTBED_ACCEL_NODE};
    s->header.noverlays = 2;
    s->header.overlays_offset = offsetof(struct section, overlays);
    s->header.nfragments = 3;
    s->header.fragments_offset = offsetof(struct section, fragments);
    s->header.nprovided = 2;
    s->header.provided_offset = offsetof(struct section, provided);
}

static void make_functions(struct testbed_image *image)
{
    struct function_section *s = (void *)((char *)image->room + sizeof(struct section));

    memset(s, 0, sizeof(*s));
    s->header =
        (struct virtio_image){.nfunctions = ARRAY_SIZE(s->functions),
                              .functions_offset = offsetof(struct function_section, functions)};
    for (uint32_t i = 0; i < ARRAY_SIZE(s->functions); i++) {
        uint32_t device = i % TESTBED_ACCEL_DEVICES;

        s->functions[i] = (struct virtio_image_function){.vm = i / TESTBED_ACCEL_DEVICES,
                                                         .slot = device,
                                                         .kind = VIRTIO_IMAGE_ACCELERATOR,
                                                         .device = device,
                                                         .task = device + 1U};
    }
    image->sections[1] = (struct sysimage_section){.tag = VIRTIO_IMAGE_TAG,
                                                   .offset = offsetof(struct testbed_image, room) +
                                                             (uint32_t)sizeof(struct section),
                                                   .size = sizeof(*s)};
}

static void make_section(struct testbed_image *image, unsigned nvms, uint64_t priorities,
                         unsigned guest_models)
{
    struct section *s = (struct section *)(void *)image->room;

    memset(s, 0, sizeof(*s));
    s->header = (struct accel_image){
        .fabric = TESTBED_ACCEL_FABRIC,
        .regions = TESTBED_ACCEL_REGIONS,
        .hold_cycles = TESTBED_ACCEL_HOLD,
        .stop_cycles = 50000,
        .nclients = nvms,
        .clients_offset = offsetof(struct section, clients),
        .ndevices = TESTBED_ACCEL_DEVICES,
        .devices_offset = offsetof(struct section, devices),
        .nbitstreams = TESTBED_ACCEL_DEVICES * TESTBED_ACCEL_REGIONS,
        .bitstreams_offset = offsetof(struct section, bitstreams),
        .nframes = TESTBED_ACCEL_REGIONS,
        .frames_offset = offsetof(struct section, frames),
        .idcode = idcode_next,
        .clock_khz = 100000,
        .interrupt_cycles = 100,
        .section_ns = 1600,
        .sources = 1,
        .timers = nvms + 3U,
        .naccels = nvms * TESTBED_ACCEL_DEVICES,
        .accels_offset = offsetof(struct section, accels),
    };
    for (uint32_t r = 0; r < TESTBED_ACCEL_REGIONS; r++) {
        s->frames[r] =
            (struct accel_image_frames){.region = r, .first = r * FRAMES, .count = FRAMES};
    }
    make_devices(s, image);
    make_clients(s, nvms, priorities, guest_models);
    if (overlays_next) {
        make_overlays(s);
    }
    image->sections[0] = (struct sysimage_section){
        .tag = ACCEL_IMAGE_TAG, .offset = offsetof(struct testbed_image, room), .size = sizeof(*s)};
    if (functions_next) {
        make_functions(image);
    }
    if (edit_next != NULL) {
        edit_next(image->streams, s->bitstreams);
    }
    testbed_image_seal(image);
}

void testbed_accel_declare(bool may_raise, unsigned top, unsigned stop_cycles)
{
    may_raise_next = may_raise;
    top_next = top;
    stop_cycles_next = stop_cycles;
}

void testbed_accel_edit(testbed_accel_edit_t *edit)
{
    edit_next = edit;
}

void testbed_accel_idcode(uint32_t idcode)
{
    idcode_next = idcode;
}

void testbed_accel_functions(bool wanted)
{
    functions_next = wanted;
}

void testbed_accel_vcpus(unsigned count)
{
    vcpus_next = count;
}

void testbed_accel_overlays(bool wanted)
{
    overlays_next = wanted;
}

bool testbed_accel_boot(unsigned ncpus, unsigned nvms, uint64_t priorities, unsigned guest_models,
                        uint64_t (*read)(uint64_t offset, unsigned bytes),
                        void (*write)(uint64_t offset, unsigned bytes, uint64_t value))
{
    const unsigned vcpus[4] = {vcpus_next, vcpus_next, vcpus_next, vcpus_next};
    struct testbed_image *image = testbed_image_make(ncpus, nvms, vcpus, 1000);
    bool booted;

    host_reset(); /* the VMs of the last boot end */
    memset(&accels, 0, sizeof(accels));
    fabric.read = read;
    fabric.write = write;
    host_registers = (struct host_registers){fabric_read, fabric_write};
    make_section(image, nvms, priorities, guest_models);
    booted_image = image;
    booted = testbed_boot_image(image);
    for (unsigned i = 0; i < nvms && booted; i++) {
        booted = testbed_vm_start(i % ncpus, i);
    }
    return booted && testbed_run_until_idle();
}

/* The ICAP reads the image, whose addresses here are pointers, of which the bus has
 * the lower bits. */
void *testbed_accel_memory(uint64_t address)
{
    uint64_t offset = (address - (uint64_t)booted_image->streams) & (BUS_ADDRESSES - 1U);

    return offset < sizeof(booted_image->streams) ? (char *)booted_image->streams + offset
                                                  : host_ram(address);
}

/* Enters the CPU on which the VM's first VCPU that runs is. */
static struct vcpu *enter(unsigned vm)
{
    struct vcpu *v = NULL;

    for (unsigned i = 0; i < hyp.vms[vm].total && v == NULL; i++) {
        v = hyp.vms[vm].vcpus[i].state == VCPU_RUNNING ? &hyp.vms[vm].vcpus[i] : NULL;
    }
    if (v == NULL) {
        return NULL;
    }
    testbed_enter((unsigned)v->cpu->id);
    return host_cpu->current == v ? v : NULL;
}

/* The store, if this CPU's view of the page allows it; else the manager's answer to the fault. */
static enum write_fault store(struct vcpu *v, gpa_t gpa, unsigned width, uint64_t value)
{
    gpa_t page = gpa & ~(gpa_t)(ACCEL_PAGE - 1U);

    if (!host_may_store(v->vm, page)) {
        return components_write_fault(v, gpa, width, value);
    }
    host_registers.write(host_given(v->vm, page) + gpa % ACCEL_PAGE, width, value);
    return WRITE_DONE;
}

enum testbed_store testbed_accel_store_wide(unsigned vm, unsigned device, unsigned offset,
                                            unsigned width, uint64_t value)
{
    struct vcpu *v = enter(vm);
    enum write_fault fault = WRITE_AGAIN;

    if (v == NULL || host_cpu->flags != 0) {
        return TESTBED_STORE_NOBODY;
    }
    for (unsigned i = 0; i < STORE_TRIES && fault == WRITE_AGAIN && host_cpu->flags == 0; i++) {
        fault = store(v, ACCEL_PAGES + device * ACCEL_PAGE + offset, width, value);
    }
    if (fault == WRITE_AGAIN) {
        return TESTBED_STORE_WAITS;
    }
    return fault == WRITE_DONE ? TESTBED_STORE_DONE : TESTBED_STORE_REFUSED;
}

enum testbed_store testbed_accel_store(unsigned vm, unsigned device, unsigned offset,
                                       uint32_t value)
{
    return testbed_accel_store_wide(vm, device, offset, sizeof(value), value);
}

long testbed_accel_call(unsigned vm, ulong number, ulong device)
{
    const struct vcpu *v = enter(vm);

    return v == NULL || host_cpu->flags != 0
               ? TESTBED_NO_CALLER
               : testbed_hypercall((unsigned)v->cpu->id, number, device, 0, 0, NULL);
}

uint32_t testbed_accel_load(unsigned vm, unsigned device, unsigned offset)
{
    return accel_if_read(accels.clients[vm].accels[device], offset);
}

bool testbed_accel_sleep(unsigned vm)
{
    struct vcpu *v = enter(vm);

    if (v != NULL) {
        testbed_wait((unsigned)v->cpu->id);
    }
    return v != NULL;
}

bool testbed_accel_yield(unsigned vm)
{
    struct vcpu *v = enter(vm);

    if (v != NULL) {
        testbed_yield((unsigned)v->cpu->id);
    }
    return v != NULL;
}

void testbed_accel_wake(unsigned vm)
{
    testbed_raise(0, vm, 0);
}

void testbed_accel_interrupt(void)
{
    testbed_enter(0);
    host_device_handler();
}

unsigned testbed_accel_state(unsigned vm, unsigned device)
{
    return accels.clients[vm].accels[device]->state;
}

unsigned testbed_accel_usable(unsigned device)
{
    return (
        unsigned)(~ACCEL_FIELD(accel_read(FABRIC_REGS_DEVICE + device * FABRIC_REGS_DEVICE_STRIDE),
                               FABRIC_REGS_DEVICE_EXCLUDED) &
                  0xffU);
}

bool testbed_accel_rechecks(unsigned cpu, unsigned vm)
{
    return (accels.recheck_on[cpu] >> vm & 1U) != 0;
}

bool testbed_accel_step(void)
{
    bool due = accels.overlay_due;

    testbed_enter(0);
    timer_disarm(&accels.deferred_timer);
    accel_continue(&accels.deferred_timer);
    return due;
}

void testbed_accel_overlay(unsigned number, struct accel_overlay *status)
{
    overlay_get_status(number, status);
}

void testbed_accel_damage(unsigned device, unsigned region, unsigned byte)
{
    ((unsigned char *)booted_image->streams[device * TESTBED_ACCEL_REGIONS + region])[byte] ^= 1U;
}

bool testbed_accel_idle(void)
{
    return accels.draining_regions == 0 && accels.icap.busy == 0 && !accels.overlay_due;
}

static unsigned put(uint64_t *values, unsigned used, uint64_t value)
{
    values[used] = value;
    return used + 1U;
}

unsigned testbed_accel_snapshot(uint64_t *values)
{
    unsigned used = put(values, 0,
                        accels.draining_regions | accels.reserved_regions << 8 |
                            accels.icap.busy << 16 | accels.icap.waiting << 24);

    for (unsigned d = 0; d < TESTBED_ACCEL_DEVICES; d++) {
        used = put(values, used, accel_read(FABRIC_REGS_DEVICE + d * FABRIC_REGS_DEVICE_STRIDE));
    }
    for (unsigned i = 0; i < accels.image->naccels; i++) {
        const struct accel *a =
            accels.clients[i / TESTBED_ACCEL_DEVICES].accels[i % TESTBED_ACCEL_DEVICES];

        used = put(values, used, accel_status_of(a));
        used = put(values, used,
                   (uint64_t)a->state << 2 | (uint64_t)a->present << 1 | *a->page.entry >> 63);
        for (unsigned offset = 0; offset < FABRIC_IF_SPAN; offset += 4U) {
            used = put(values, used, accel_if_read(a, offset));
        }
    }
    return used;
}

unsigned testbed_accel_region_task(unsigned region)
{
    return (unsigned)ACCEL_FIELD(accel_region_status(region), FABRIC_REGS_PRR_STATUS_TASK_ID);
}

uint64_t testbed_accel_events(unsigned vm)
{
    uint64_t events = accels.clients[vm].events;

    accels.clients[vm].events = 0;
    return events;
}

uint64_t testbed_accel_count(unsigned which)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < accels.image->naccels; i++) {
        const struct accel_stats *s =
            &accels.clients[i / TESTBED_ACCEL_DEVICES].accels[i % TESTBED_ACCEL_DEVICES]->stats;
        uint64_t counts[] = {s->paths[0], s->paths[1], s->paths[2],
                             s->paths[3], s->waits,    s->losses};

        sum += counts[which];
    }
    return sum;
}

/* --- invariants --- */

static bool waits(const struct vcpu *v)
{
    return v->state == VCPU_SUSPENDED || (v->request & VCPU_REQ_SUSPEND) != 0;
}

static unsigned waiters_of(const struct accel *a)
{
    unsigned count = 0;

    for (const struct list *node = a->waiters.next; node != &a->waiters; node = node->next) {
        count++;
    }
    return count;
}

static const char *accel_violation(const struct accel *a)
{
    if (a->state == ACCEL_CONNECTED && accels.regions[a->region].owner != a) {
        return "a device is connected to a region of another client";
    }
    if (a->state != ACCEL_WAITING && waiters_of(a) != 0) {
        return "a VCPU waits for a device that is not requested";
    }
    if (a->state == ACCEL_IDLE && *a->page.entry >> 63 != 0) {
        return "a page is writable without a request";
    }
    return NULL;
}

static const char *client_violation(const struct accel_vm *c)
{
    const char *wrong = NULL;
    unsigned waiting = 0, connected[ACCEL_MAX_REGIONS] = {0};

    for (unsigned i = 0; i < TESTBED_ACCEL_DEVICES && wrong == NULL; i++) {
        const struct accel *a = c->accels[i];

        wrong = accel_violation(a);
        waiting += waiters_of(a);
        if (a->state == ACCEL_CONNECTED && ++connected[a->region] > 1) {
            wrong = "two devices are connected to one region";
        }
    }
    return wrong == NULL && waits(&c->vm->vcpus[0]) && waiting == 0 ? "a VCPU waits for nothing"
                                                                    : wrong;
}

/* The fabric's client of a region is the manager's. */
static const char *region_violation(unsigned number)
{
    uint64_t status = accel_read(FABRIC_REGS_PRR_STATUS + number * FABRIC_REGS_PRR_STATUS_STRIDE);
    const struct accel *a = accels.regions[number].owner;

    if (a == NULL || a->state != ACCEL_CONNECTED || a->region != number) {
        return NULL;
    }
    if (ACCEL_FIELD(status, FABRIC_REGS_PRR_STATUS_CLIENT) == 0 ||
        ACCEL_FIELD(status, FABRIC_REGS_PRR_STATUS_VM) != a->client->number ||
        ACCEL_FIELD(status, FABRIC_REGS_PRR_STATUS_DEV) != a->config->device) {
        return "the fabric has given a connected region to another client";
    }
    return NULL;
}

/* The regions of the queue are those of the mask. */
static const char *port_violation(void)
{
    const struct accel_icap *icap = &accels.icap;
    unsigned queued = 0;

    for (unsigned i = 0; i < icap->waiting; i++) {
        queued |= 1U << icap->queue[(icap->first + i) % ACCEL_MAX_REGIONS];
    }
    if (queued != icap->queued || (unsigned)__builtin_popcount(queued) != icap->waiting) {
        return "the ICAP's queue has a region twice, or one that its mask does not "
               "have";
    }
    return icap->busy == 0 && queued != 0 ? "regions wait for an ICAP that is free" : NULL;
}

const char *testbed_accel_violation(bool quiet)
{
    const char *wrong = port_violation();

    for (unsigned i = 0; i < accels.image->nclients && wrong == NULL; i++) {
        wrong = client_violation(&accels.clients[i]);
    }
    for (unsigned i = 0; i < accels.nregions && wrong == NULL && quiet; i++) {
        wrong = region_violation(i);
    }
    return wrong;
}
