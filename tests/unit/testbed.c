/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the system image, boots core from it, and causes events (testbed.h). Owns the image, the
 * execution times of the hypervisor, and which idle CPUs a test has entered. */
#include "testbed.h"

#include <string.h>

#include "arch.h"
#include "host.h"
#include "hypercall.h"
#include "lib.h"
#include "rt_app.h"
#include "sched.h"
#include "testbed_debug.h"
#include "testbed_rt.h"

#define PAYLOAD_OFFSET 16384U
#define IDLE_PASSES_MAX 10000U

_Static_assert(sizeof(struct testbed_image) <= PAYLOAD_OFFSET, "the payload follows the tables");

static struct {
    union {
        struct testbed_image image;
        unsigned char bytes[PAYLOAD_OFFSET];
    } config;
    uint64_t payload[512];
} memory __attribute__((aligned(4096)));

/* The VCPU of this CPU has requested to wait or ended its job, and the scheduler has not run
 * since. */
static bool about_to_wait(void)
{
    const struct vcpu *v = host_cpu->current;
    const struct rt_app *app = v != NULL && v->sched == &rt_class ? v->data[COMPONENT_RT] : NULL;

    return v != NULL && ((v->request & VCPU_REQ_WAIT) != 0 || (app != NULL && app->done));
}

/*
 * A VCPU's request to wait is handled by the scheduler at once. An interrupt from another CPU that
 * arrives in between is taken afterwards, as on a machine that runs the hypervisor with interrupts
 * disabled.
 */
static void step(unsigned id)
{
    unsigned kicks = 0;

    if (about_to_wait()) {
        kicks = host_cpu->arch.kicks;
        host_cpu->arch.kicks = 0;
    }
    host_step(id);
    cpu_get(id)->arch.kicks += kicks;
}

static struct {
    ticks_t blocked; /* length of a non-preemptible section, as described in testbed.h */
} costs;

void testbed_costs(ticks_t enter, ticks_t look, ticks_t leave, ticks_t blocked)
{
    host_costs = (struct host_costs){.enter = enter, .clock = look, .leave = leave};
    costs.blocked = blocked;
}

/* The VCPU on this CPU may have entered the longest non-preemptible section just before an
 * interrupt. */
static bool may_be_blocked(void)
{
    const struct vcpu *v = host_cpu->current;

    return v == NULL || (!testbed_rt_keeps_budget(v) && host_ran(v) != v->arch.ran);
}

/* Spends the time of an exit by a call or an interrupt. */
static void spend_entry(bool interrupt)
{
    if (interrupt && may_be_blocked()) {
        host_spend(costs.blocked);
    }
    host_spend(host_costs.enter);
}

/* An idle CPU that a test has entered is awake, as in an interrupt, and runs the scheduler before
 * it sleeps again. */
static bool awake[SYSIMAGE_MAX_HARTS];

void testbed_enter(unsigned cpu)
{
    host_cpu = cpu_get(cpu);
    if (about_to_wait()) {
        step(cpu);
    }
    spend_entry(false);
    awake[cpu] = true;
}

static uint32_t offset_in_image(const void *p)
{
    return (uint32_t)((const unsigned char *)p - memory.config.bytes);
}

static void image_vm(struct testbed_image *image, unsigned i, unsigned nvcpus)
{
    struct sysimage_vm *vm = &image->vms[i];

    memcpy(vm->name, "vm-", 3);
    vm->name[3] = (char)('a' + i);
    vm->colour = 31;
    vm->flags = i % 2 == 0 ? SYSIMAGE_VM_RESTART_FATAL : 0;
    vm->nvcpus = nvcpus;
    vm->entry = TESTBED_GPA;
    vm->uart = 0x10000000;
    vm->uart_irq = 10;
    vm->nregions = 1;
    vm->regions_offset = offset_in_image(&image->regions[i]);
    vm->nloads = 1;
    vm->loads_offset = offset_in_image(&image->loads[i]);
    vm->fixups_offset = offset_in_image(&image->fixups[i]);
    vm->irqs_offset = offset_in_image(&image->fixups[i]);
    image->regions[i] = (struct sysimage_region){.gpa = TESTBED_GPA,
                                                 .hpa = HOST_RAM_BASE + i * TESTBED_VM_RAM,
                                                 .size = TESTBED_VM_RAM,
                                                 .kind = SYSIMAGE_REGION_RAM};
    image->loads[i] = (struct sysimage_load){
        .gpa = TESTBED_GPA,
        .offset = PAYLOAD_OFFSET,
        .size = sizeof(uint64_t),
        .words = (uint32_t)TESTBED_PAYLOAD + (TESTBED_PAYLOAD >> 32),
        .sums = 2 * (uint64_t)(uint32_t)TESTBED_PAYLOAD + (TESTBED_PAYLOAD >> 32),
    };
}

static void image_sections(struct testbed_image *image)
{
    image->header.nsections = TESTBED_SECTIONS;
    image->header.sections_offset = offset_in_image(image->sections);
    for (unsigned i = 0; i < TESTBED_SECTIONS; i++) {
        image->section_data[i] = TESTBED_TAG + i;
        image->sections[i] = (struct sysimage_section){
            .tag = TESTBED_TAG + i,
            .offset = offset_in_image(&image->section_data[i]),
            .size = sizeof(image->section_data[i]),
        };
    }
}

struct testbed_image *testbed_image_make(unsigned ncpus, unsigned nvms, const unsigned *nvcpus,
                                         unsigned quantum_us)
{
    struct testbed_image *image = &memory.config.image;

    memset(&memory, 0, sizeof(memory));
    memory.payload[0] = TESTBED_PAYLOAD;
    memory.payload[511] = SYSIMAGE_END;
    image->header = (struct sysimage_header){
        .magic = SYSIMAGE_MAGIC,
        .version = SYSIMAGE_VERSION,
        .total_size = sizeof(memory),
        .config_size = sizeof(memory.config),
        .nharts = ncpus,
        .nvms = nvms,
        .vms_offset = offset_in_image(image->vms),
        .quantum_us = quantum_us,
        .timebase_hz = TESTBED_TICKS_PER_US * 1000000U,
        .ram_base = HOST_RAM_BASE,
        .ram_size = HOST_RAM_SIZE,
        .name = "testbed",
    };
    for (unsigned i = 0; i < nvms; i++) {
        image_vm(image, i, nvcpus[i]);
    }
    image_sections(image);
    testbed_image_seal(image);
    return image;
}

void testbed_image_watchdog(struct testbed_image *image, unsigned vm, unsigned watchdog_ms,
                            unsigned restart_pause_max_ms)
{
    image->vms[vm].watchdog_ms = watchdog_ms;
    image->vms[vm].restart_pause_max_ms = restart_pause_max_ms;
    testbed_image_seal(image);
}

void testbed_image_damage(unsigned byte, unsigned char flip)
{
    ((unsigned char *)memory.payload)[byte] ^= flip;
}

void testbed_image_seal(struct testbed_image *image)
{
    uint32_t size = image->header.config_size;

    /* sysimage_check() refuses an invalid size before it computes the checksum. */
    if (size >= sizeof(image->header) && size <= sizeof(memory)) {
        image->header.checksum = crc32((const unsigned char *)&memory + 16, size - 16U);
    }
}

const char *testbed_image_check(const struct testbed_image *image)
{
    return sysimage_check(&image->header, sizeof(memory));
}

bool testbed_boot(unsigned ncpus, unsigned nvms, const unsigned *nvcpus, unsigned quantum_us)
{
    return testbed_boot_image(testbed_image_make(ncpus, nvms, nvcpus, quantum_us));
}

bool testbed_boot_image(struct testbed_image *image)
{
    return testbed_image_check(image) == NULL && testbed_boot_checked(&image->header);
}

bool testbed_boot_checked(const struct sysimage_header *header)
{
    memset(awake, 0, sizeof(awake));
    memset(&costs, 0, sizeof(costs));
    if (hyp.ncpus != 0) {
        testbed_debug(0, DEBUG_DETACH, 0, 0); /* a session must not span boots */
    }
    host_reset();
    if (system_init(header) != NULL) {
        return false;
    }
    system_start();
    for (unsigned i = 0; i < hyp.ncpus; i++) {
        host_step(i);
    }
    return true;
}

bool testbed_vm_start(unsigned cpu, unsigned vm)
{
    testbed_enter(cpu);
    if (hyp.vms[vm].state == VM_STOPPED || hyp.vms[vm].state == VM_WAITING) {
        /* Data of a previous run. */
        memset(host_ram(hyp.vms[vm].memmap.regions[0].hpa), 0xa5, TESTBED_VM_RAM);
    }
    return vm_start(&hyp.vms[vm]);
}

bool testbed_vm_stop(unsigned cpu, unsigned vm, bool restart)
{
    testbed_enter(cpu);
    return vm_stop(&hyp.vms[vm], VM_REASON_CONSOLE, restart);
}

bool testbed_vcpu_start(unsigned cpu, unsigned vm, unsigned vcpu)
{
    testbed_enter(cpu);
    return vcpu_start(&hyp.vms[vm].vcpus[vcpu], 0x1000, 7);
}

void testbed_raise(unsigned cpu, unsigned vm, unsigned vcpu)
{
    testbed_enter(cpu);
    vcpu_raise(&hyp.vms[vm].vcpus[vcpu], 1);
}

static struct vcpu *current_of(unsigned cpu)
{
    testbed_enter(cpu);
    return host_cpu->current;
}

void testbed_wait(unsigned cpu)
{
    testbed_wait_until(cpu, TICKS_NEVER);
}

void testbed_wait_until(unsigned cpu, ticks_t deadline)
{
    struct vcpu *v = current_of(cpu);

    if (v != NULL) {
        v->arch.raised = 0; /* the guest has handled its interrupts */
        v->arch.deadline = deadline;
        vcpu_wait(v);
    }
}

void testbed_stop_steps(unsigned vm, unsigned steps)
{
    hyp.vms[vm].arch.stop_steps = steps;
}

unsigned testbed_stop_steps_left(unsigned vm)
{
    return hyp.vms[vm].arch.stop_steps;
}

void testbed_suspend(unsigned cpu)
{
    struct vcpu *v = current_of(cpu);

    if (v != NULL) {
        vcpu_suspend(v);
    }
}

void testbed_resume(unsigned cpu, unsigned vm, unsigned vcpu)
{
    testbed_enter(cpu);
    spin_lock(&sched_lock);
    vcpu_resume(&hyp.vms[vm].vcpus[vcpu]);
    spin_unlock(&sched_lock);
}

void testbed_yield(unsigned cpu)
{
    struct vcpu *v = current_of(cpu);

    if (v != NULL) {
        sched_end_slice(v);
    }
}

void testbed_off(unsigned cpu)
{
    struct vcpu *v = current_of(cpu);

    if (v != NULL) {
        vcpu_stop(v);
    }
}

void testbed_guest_ends(unsigned cpu, bool restart)
{
    struct vcpu *v = current_of(cpu);

    /* Not VM_REASON_SHUTDOWN: the shutdown of the last guest would power off the test program. */
    if (v != NULL) {
        vm_stop(v->vm, VM_REASON_RESET, restart);
    }
}

void testbed_guest_faults(unsigned cpu)
{
    struct vcpu *v = current_of(cpu);

    if (v != NULL) {
        vm_fatal(v, "a test", 12, 0xdead000);
    }
}

void testbed_suspend_watchdog(unsigned cpu, unsigned vm, bool suspend)
{
    testbed_enter(cpu);
    spin_lock(&sched_lock);
    vm_suspend_watchdog(&hyp.vms[vm], suspend);
    spin_unlock(&sched_lock);
}

void testbed_advance(ticks_t ticks)
{
    host_time += ticks;
}

static bool run_one(unsigned id)
{
    host_cpu = cpu_get(id);
    if (host_cpu->current == NULL ? !awake[id] : host_cpu->flags == 0) {
        if (!arch_irq_pending()) {
            return false;
        }
        spend_entry(true);
    }
    awake[id] = false;
    step(id);
    return true;
}

bool testbed_run_until_idle(void)
{
    bool busy = true;

    for (unsigned pass = 0; busy && pass < IDLE_PASSES_MAX; pass++) {
        busy = false;
        for (unsigned i = 0; i < hyp.ncpus; i++) {
            busy |= run_one(i);
        }
    }
    return !busy;
}

unsigned testbed_vcpu_state(unsigned vm, unsigned vcpu)
{
    return hyp.vms[vm].vcpus[vcpu].state;
}

unsigned testbed_vm_state(unsigned vm)
{
    return hyp.vms[vm].state;
}

unsigned testbed_vm_starts(unsigned vm)
{
    return hyp.vms[vm].starts;
}

bool testbed_vm_starts_again(unsigned vm)
{
    return hyp.vms[vm].restart;
}

unsigned testbed_vm_restarts(unsigned vm)
{
    return hyp.vms[vm].restarts;
}

ticks_t testbed_runtime(unsigned vm, unsigned vcpu)
{
    return hyp.vms[vm].vcpus[vcpu].runtime;
}

ulong testbed_raised(unsigned vm, unsigned vcpu)
{
    struct vcpu *v = &hyp.vms[vm].vcpus[vcpu];
    ulong raised = v->arch.raised | v->pending;

    v->arch.raised = 0;
    return raised;
}

unsigned testbed_kicks(unsigned cpu)
{
    return cpu_get(cpu)->arch.kicks;
}

unsigned testbed_syncs(void)
{
    return host_syncs;
}

void testbed_request_sync(unsigned cpu, unsigned other)
{
    testbed_enter(cpu);
    spin_lock(&sched_lock);
    cpu_kick(cpu_get(other), IPI_SYNC);
    spin_unlock(&sched_lock);
}

int testbed_on_cpu(unsigned cpu)
{
    const struct vcpu *v = cpu_get(cpu)->current;

    return v == NULL ? -1 : (int)(100U * v->vm->id + v->id);
}

long testbed_hypercall(unsigned cpu, ulong number, ulong a0, ulong a1, ulong a2, uint64_t *value)
{
    struct hcall_ret ret;

    testbed_enter(cpu);
    if (host_cpu->current == NULL) {
        return TESTBED_NO_CALLER;
    }
    ret = hypercall_dispatch(a0, a1, a2, 0, 0, 0, number);
    if (value != NULL) {
        *value = ret.value;
    }
    return ret.error;
}

void *testbed_memory(unsigned vm, gpa_t gpa)
{
    return host_ram(hyp.vms[vm].memmap.regions[0].hpa + (gpa - TESTBED_GPA));
}
