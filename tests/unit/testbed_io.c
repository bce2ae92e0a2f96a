/* SPDX-License-Identifier: Apache-2.0 */
/* Makes and boots systems with shared devices (testbed_io.h). Owns the functions that access the
 * hardware. */
#include "testbed_io.h"

#include <string.h>

#include "host.h"
#include "resource.h"
#include "shared.h"

static struct {
    uint64_t (*read)(uint64_t offset, unsigned bytes);
    void (*write)(uint64_t offset, unsigned bytes, uint64_t value);
} hardware;                              /* owner: testbed_io_boot() */
static struct testbed_image *made_image; /* owner: testbed_io_make() */
static unsigned made_vms;                /* as made_image */

_Static_assert(sizeof(struct testbed_io_section) % 8U == 0 &&
                   sizeof(struct testbed_io_section) + sizeof(struct testbed_io_functions) <=
                       sizeof(((struct testbed_image *)NULL)->room),
               "the sections fit");

static uint64_t hardware_read(uint64_t at, unsigned bytes)
{
    return hardware.read(at - TESTBED_IO_BASE, bytes);
}

static void hardware_write(uint64_t at, unsigned bytes, uint64_t value)
{
    hardware.write(at - TESTBED_IO_BASE, bytes, value);
}

static void make_client(struct shared_image_client *c, uint32_t vm)
{
    *c = (struct shared_image_client){
        .vm = vm,
        .guest_irq = TESTBED_IO_GUEST_IRQ,
        .devices = (1U << SHARED_DEVICES) - 1U,
        .flash_first = 8U * vm,
        .flash_sectors = 8,
        .pins = 3U << 2U * vm,
        .mac = 0x020000000001 + vm,
        .ethernet = vm & 3U,
        .vlan = 100U + vm,
        .gpa = 0x18200000,
        .rect = {(uint16_t)(10U * vm), 20, (uint16_t)(5U + vm), 30},
    };
    for (uint32_t i = 0; i < SHARED_CHANNELS; i++) {
        c->priority[i] = (vm + i) & 15U;
        c->budget[i] = 1000U * vm + i;
    }
}

void *testbed_io_make(unsigned ncpus, unsigned nvms, unsigned nclients)
{
    static const unsigned one_each[SYSIMAGE_MAX_VMS] = {1, 1, 1, 1, 1, 1, 1, 1,
                                                        1, 1, 1, 1, 1, 1, 1, 1};
    struct testbed_io_section *s;

    made_vms = nvms;
    made_image = testbed_image_make(ncpus, nvms, one_each, 1000);
    s = (void *)made_image->room;
    s->header = (struct shared_image){
        .base = TESTBED_IO_BASE,
        .clock_hz = 100000000,
        .irq = TESTBED_IO_IRQ,
        .vm_irq = TESTBED_IO_VM_IRQ,
        .devices = (1U << SHARED_DEVICES) - 1U,
        .nclients = nclients,
        .clients_offset = offsetof(struct testbed_io_section, clients),
        .flash_half = 2,
        .flash_deselect = 10,
        .flash_slice = 100000,
        .screen_h = {320, 48, 32, 80},
        .screen_v = {240, 3, 4, 6},
        .pixel_cycles = 4,
        .burst_cycles = 144,
        .on_request = 1,
        .uart_divider = 868,
        .uart_flush = 287,
        .uart_mode = 1,
        .uart_focus = 1,
    };
    for (uint32_t i = 0; i < SHARED_CHANNELS; i++) {
        s->header.channels[i] = (struct shared_image_channel){
            i % 3U, 7U + i, 10000U + i, 20000U + i, 3000U + i, 500U + i, 100U + i, 0};
    }
    for (uint32_t i = 0; i < nclients; i++) {
        make_client(&s->clients[i], i);
    }
    testbed_io_cut(sizeof(*s));
    return s;
}

void testbed_io_region(unsigned number, unsigned kind, uint64_t gpa, uint64_t hpa)
{
    made_image->regions[number] =
        (struct sysimage_region){.gpa = gpa, .hpa = hpa, .size = 0x200000, .kind = kind};
    made_image->vms[0].nregions = number + 1U;
}

void testbed_io_cut(unsigned size)
{
    made_image->sections[0] =
        (struct sysimage_section){.tag = size != 0 ? SHARED_IMAGE_TAG : TESTBED_TAG,
                                  .offset = offsetof(struct testbed_image, room),
                                  .size = size != 0 ? size : sizeof(struct testbed_io_section)};
}

void *testbed_io_functions(unsigned count)
{
    struct testbed_io_functions *s =
        (void *)((char *)made_image->room + sizeof(struct testbed_io_section));

    memset(s, 0, sizeof(*s));
    s->header = (struct virtio_image){
        .nfunctions = count, .functions_offset = offsetof(struct testbed_io_functions, functions)};
    for (uint32_t i = 0; i < count; i++) {
        s->functions[i] = (struct virtio_image_function){
            .vm = i, .kind = VIRTIO_IMAGE_HARDWARE_IO, .task = (1U << SHARED_DEVICES) - 1U};
    }
    made_image->sections[1] =
        (struct sysimage_section){.tag = VIRTIO_IMAGE_TAG,
                                  .offset = offsetof(struct testbed_image, room) +
                                            (uint32_t)sizeof(struct testbed_io_section),
                                  .size = sizeof(*s)};
    return s;
}

const char *testbed_io_boot(uint64_t (*read)(uint64_t offset, unsigned bytes),
                            void (*write)(uint64_t offset, unsigned bytes, uint64_t value))
{
    const char *wrong;

    host_reset(); /* the VMs of the last boot end */
    memset(&shared, 0, sizeof(shared));
    hardware.read = read;
    hardware.write = write;
    host_registers = (struct host_registers){hardware_read, hardware_write};
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

uint64_t testbed_io_page(unsigned vm, uint64_t gpa)
{
    hpa_t hpa = host_given(&hyp.vms[vm], gpa);

    return hpa != 0 ? hpa - TESTBED_IO_BASE : 0;
}

bool testbed_io_raise(unsigned irq)
{
    testbed_enter(0);
    return host_device_raise(irq);
}

void testbed_io_interrupt(void)
{
    testbed_enter(0);
    host_device_handler();
}

unsigned testbed_io_bound(unsigned vm, unsigned number, uint64_t job, uint64_t *longest)
{
    struct resource_wait wait = {0};
    enum resource_answer answer = resource_bound(&hyp.vms[vm], number, job, &wait);

    *longest = answer == RESOURCE_BOUNDED && wait.direct ? wait.longest : 0;
    return answer;
}
