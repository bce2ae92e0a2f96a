/* SPDX-License-Identifier: Apache-2.0 */
/* Makes and boots systems with PCI functions, and executes the driver's loads and stores
 * (testbed_virtio.h). Owns the CPU that executes them, and what interrupts a store. */
#include "testbed_virtio.h"

#include <string.h>

#include "host.h"
#include "seed_parts.h"
#include "virtio.h"

static struct testbed_image *made_image; /* owner: testbed_virtio_make() */
static unsigned made_vms;                /* as made_image */
static unsigned on_cpu;                  /* executes the stores; owner: testbed_virtio_on() */
static struct {
    unsigned every, looks;
    uint16_t *endless;
} polls; /* owner: testbed_virtio_begin(), testbed_virtio_endless() */

/* A store that another VCPU begins; `look` 0: none. */
static struct {
    unsigned look, vm, width_log2, poll;
    uint64_t gpa, value;
} other; /* owner: testbed_virtio_during() */

/* What CPU 1 does; `release` 0: nothing. */
static struct {
    unsigned release, locks;
    void (*action)(void);
    bool acts;
} second;          /* owner: testbed_virtio_at_release() */
static bool acted; /* the last one of these two; owner: testbed_virtio_acted() */

_Static_assert(sizeof(struct testbed_virtio_section) <=
                   sizeof(((struct testbed_image *)NULL)->room),
               "it fits");

/* The second region of each VM; the array of the image has space for one each, so the regions are
 * in `streams`. */
static void share(struct testbed_image *image, unsigned vm)
{
    struct sysimage_region *regions = (void *)image->streams[vm];

    regions[0] = image->regions[vm];
    regions[1] = (struct sysimage_region){.gpa = TESTBED_VIRTIO_SHARED,
                                          .hpa = HOST_RAM_BASE + made_vms * TESTBED_VM_RAM,
                                          .size = TESTBED_VM_RAM,
                                          .kind = SYSIMAGE_REGION_SHARED,
                                          .detail = TESTBED_VIRTIO_SHARED_ID};
    image->vms[vm].nregions = 2;
    image->vms[vm].regions_offset = (uint32_t)((char *)regions - (char *)image);
}

void *testbed_virtio_make(unsigned nvms)
{
    /* VM 1 has so many that its lines are set in sections of their own. */
    static const unsigned nvcpus[SYSIMAGE_MAX_VMS] = {1, 3, 1, 1, 1, 1, 1, 1,
                                                      1, 1, 1, 1, 1, 1, 1, 1};
    struct testbed_virtio_section *s;

    made_vms = nvms;
    on_cpu = 0;
    acted = false;
    made_image = testbed_image_make(1, nvms, nvcpus, 1000);
    for (unsigned vm = 0; vm < nvms; vm++) {
        share(made_image, vm);
    }
    s = (void *)made_image->room;
    memset(s, 0, sizeof(*s));
    s->header.functions_offset = offsetof(struct testbed_virtio_section, functions);
    testbed_virtio_cut(sizeof(*s));
    return s;
}

void testbed_virtio_give_two_harts(void)
{
    made_image->header.nharts = 2;
}

void testbed_virtio_on(unsigned cpu)
{
    on_cpu = cpu;
}

void testbed_virtio_unshare(unsigned vm)
{
    made_image->vms[vm].nregions = 1;
}

void testbed_virtio_give_dma(unsigned vm)
{
    struct sysimage_region *regions = (void *)made_image->streams[vm];

    regions[1].kind = SYSIMAGE_REGION_DMA;
    regions[1].detail = 0;
}

uint64_t testbed_virtio_disk(void)
{
    return HOST_RAM_BASE + (made_vms + 1U) * TESTBED_VM_RAM;
}

void *testbed_virtio_content(uint64_t hpa)
{
    return host_ram(hpa);
}

void testbed_virtio_cut(unsigned size)
{
    made_image->sections[0] = (struct sysimage_section){
        .tag = VIRTIO_IMAGE_TAG, .offset = offsetof(struct testbed_image, room), .size = size};
}

/* Gives the hypervisor a seed: a flattened device tree whose only property is /chosen/rng-seed. */
static void take_seed(void)
{
    static const uint32_t words[] = {
        0xd00dfeed, 160,
        40,         144,
        0,          17,
        16,         0,
        16,         104, /* header */
        1,          0,
        1,          0x63686f73,
        0x656e0000, /* root node, "chosen" */
        3,          SYSIMAGE_SEED_SIZE,
        0,          0x5a5a5a5a,
        0x12345678, /* "rng-seed", its value */
    };
    uint8_t tree[160] = {0};

    for (unsigned i = 0; i < 4U * ARRAY_SIZE(words); i++) {
        tree[i] = (uint8_t)(words[i / 4U] >> (24U - i % 4U * 8U));
    }
    memcpy(tree + 144, "rng-seed", sizeof("rng-seed"));
    (void)seed_take(tree, sizeof(tree));
}

const char *testbed_virtio_boot(bool seed)
{
    const char *wrong;

    host_reset();
    if (seed) {
        take_seed();
    }
    testbed_image_seal(made_image);
    wrong = testbed_image_check(made_image);
    if (wrong == NULL && !testbed_boot_image(made_image)) {
        host_reset();
        wrong = system_init(&made_image->header); /* again, for the message */
    }
    for (unsigned i = 0; i < made_vms && wrong == NULL; i++) {
        wrong = testbed_vm_start(0, i) ? NULL : "a VM does not start";
    }
    return wrong == NULL && !testbed_run_until_idle() ? "the VMs do not start" : wrong;
}

uint64_t testbed_virtio_load(unsigned vm, uint64_t gpa, unsigned width_log2)
{
    const struct vdev *dev = vdev_find(&hyp.vms[vm].devs, gpa);

    testbed_enter(on_cpu);
    if (dev == NULL || (dev->widths >> width_log2 & 1U) == 0) {
        return TESTBED_VIRTIO_FAULT;
    }
    return dev->read(&hyp.vms[vm].vcpus[0], gpa - dev->base, width_log2) &
           (UINT64_MAX >> (64U - (8U << width_log2)));
}

/* Stores in the middle of another one. */
static void in_between(void (*action)(void))
{
    unsigned every = polls.every, looks = polls.looks, again = host_stores_again;
    void (*hook)(void) = host_on_poll;

    acted = true;
    action();
    polls.every = every;
    polls.looks = looks;
    host_stores_again = again;
    host_on_poll = hook;
}

/* The other VCPU's store, which an interrupt may stop. */
static void begin_other(void)
{
    (void)testbed_virtio_store_once(other.vm, other.gpa, other.width_log2, other.value, other.poll);
}

/* A pending interrupt is a kick of this CPU, which arch_irq_poll() takes. */
static void on_poll(void)
{
    if (other.look != 0 && --other.look == 0) {
        in_between(begin_other);
    }
    if (polls.every != 0 && ++polls.looks % polls.every == 0) {
        host_cpu->arch.kicks++;
    }
    if (polls.endless != NULL) {
        ++*polls.endless;
    }
}

void testbed_virtio_endless(unsigned vm, uint64_t gpa)
{
    polls.endless = gpa != 0 ? testbed_memory(vm, gpa) : NULL;
}

void testbed_virtio_during(unsigned look, unsigned vm, uint64_t gpa, unsigned width_log2,
                           uint64_t value, unsigned poll)
{
    acted = false;
    other.look = look;
    other.vm = vm;
    other.gpa = gpa;
    other.width_log2 = width_log2;
    other.value = value;
    other.poll = poll;
}

static void on_release(void)
{
    struct cpu *first = host_cpu;
    unsigned cpu = on_cpu;

    if (first->locks != second.locks || --second.release != 0) {
        return;
    }
    host_on_release = NULL;
    on_cpu = 1;
    second.acts = true;
    in_between(second.action);
    second.acts = false;
    on_cpu = cpu;
    host_cpu = first;
}

void testbed_virtio_at_release(unsigned release, unsigned locks, void (*action)(void))
{
    acted = release == 0 && acted;
    second.release = release;
    second.locks = locks;
    second.action = action;
    host_on_release = release != 0 ? on_release : NULL;
}

bool testbed_virtio_acted(void)
{
    return acted;
}

/* Looks are counted from the begin of a store on, also those of its further executions. */
static unsigned execute(unsigned vm, uint64_t gpa, unsigned width_log2, uint64_t value,
                        unsigned poll)
{
    const struct vdev *dev = vdev_find(&hyp.vms[vm].devs, gpa);
    unsigned before = host_stores_again;

    testbed_enter(on_cpu);
    if (dev == NULL || (dev->widths >> width_log2 & 1U) == 0) {
        return ~0U;
    }
    polls.every = poll;
    host_on_poll = on_poll;
    dev->write(&hyp.vms[vm].vcpus[0], gpa - dev->base, width_log2, value);
    host_on_poll = NULL;
    host_cpu->arch.kicks = 0;
    return host_stores_again - before;
}

unsigned testbed_virtio_store_once(unsigned vm, uint64_t gpa, unsigned width_log2, uint64_t value,
                                   unsigned poll)
{
    polls.looks = 0;
    return execute(vm, gpa, width_log2, value, poll);
}

unsigned testbed_virtio_store(unsigned vm, uint64_t gpa, unsigned width_log2, uint64_t value,
                              unsigned poll)
{
    unsigned again = 0, once;

    polls.looks = 0;
    do {
        once = execute(vm, gpa, width_log2, value, poll);
        again += once;
        if (!second.acts) {
            /* the interrupts that are pending when the guest continues */
            (void)testbed_run_until_idle();
        }
    } while (once != 0 && once != ~0U);
    return again;
}

void testbed_virtio_counts(unsigned number, struct testbed_virtio_counts *counts)
{
    struct virtio_net_counts c = virtio_net_count(&virtio_devices[number]);

    *counts = (struct testbed_virtio_counts){c.sent,    c.received,  c.spoofed,
                                             c.limited, c.no_buffer, c.malformed};
}

void testbed_virtio_line_counts(unsigned number, struct testbed_virtio_line_counts *counts)
{
    struct virtio_console_counts c = virtio_console_count(&virtio_devices[number]);

    *counts = (struct testbed_virtio_line_counts){c.sent, c.dropped};
}

uint32_t testbed_virtio_lines(unsigned vm)
{
    (void)testbed_run_until_idle(); /* lines of VM 1 are set by a timer */
    return hyp.vms[vm].arch.lines;
}

uint32_t testbed_virtio_lines_after(unsigned vm, unsigned interrupts)
{
    testbed_enter(on_cpu);
    for (unsigned i = 0; i < interrupts && arch_irq_pending(); i++) {
        arch_irq_poll();
    }
    return hyp.vms[vm].arch.lines;
}
