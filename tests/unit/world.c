/* SPDX-License-Identifier: Apache-2.0 */
#include "world.h"

#include <string.h>

#include "arch.h"
#include "host.h"
#include "hypercall.h"
#include "lib.h"
#include "rt_app.h"
#include "sched.h"
#include "world_debug.h"
#include "world_rt.h"

#define PAYLOAD_OFFSET 16384U
#define SETTLE_TURNS 10000U

_Static_assert(sizeof(struct world_image) <= PAYLOAD_OFFSET, "the payload follows the tables");

static struct {
    union {
        struct world_image image;
        unsigned char bytes[PAYLOAD_OFFSET];
    } config;
    uint64_t payload[512];
} memory __attribute__((aligned(4096)));

/* The VCPU of this CPU has asked to wait, or has ended its job, and the scheduler has not run yet. */
static bool about_to_wait(void)
{
    const struct vcpu *v = host_cpu->current;
    const struct rt_app *app = v != NULL && v->sched == &rt_class ? v->sched_data : NULL;

    return v != NULL && ((v->request & VCPU_REQ_WAIT) != 0 || (app != NULL && app->done));
}

/*
 * A VCPU that asks to wait goes to the scheduler at once. An interrupt from another CPU that comes in between is taken
 * after that, as on a machine that keeps interrupts off in the hypervisor: the scheduler has to see what it is about.
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
    ticks_t deaf; /* how long guests that do what they like keep their CPU from looking at interrupts */
} costs;

void world_costs(ticks_t enter, ticks_t look, ticks_t leave, ticks_t deaf)
{
    host_costs = (struct host_costs){.enter = enter, .clock = look, .leave = leave};
    costs.deaf = deaf;
}

/* Whoever runs on this CPU may have made the longest call that there is, just before an interrupt. */
static bool deaf(void)
{
    const struct vcpu *v = host_cpu->current;

    return v == NULL || (!world_rt_keeps_budget(v) && host_ran(v) != v->arch.ran);
}

/* The guest that runs on this CPU, if one does, leaves it, by a call or an interrupt. */
static void spend_entry(bool interrupt)
{
    if (interrupt && deaf()) {
        host_spend(costs.deaf);
    }
    host_spend(host_costs.enter);
}

/* An idle CPU that has done something (in an interrupt, so it is awake) looks for work before it sleeps again. */
static bool awake[SYSIMAGE_MAX_HARTS];

void world_enter(unsigned cpu)
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

static void image_vm(struct world_image *image, unsigned i, unsigned nvcpus)
{
    struct sysimage_vm *vm = &image->vms[i];

    memcpy(vm->name, "vm-", 3);
    vm->name[3] = (char)('a' + i);
    vm->colour = 31;
    vm->flags = i % 2 == 0 ? SYSIMAGE_VM_RESTART_FATAL : 0;
    vm->nvcpus = nvcpus;
    vm->entry = WORLD_GPA;
    vm->uart = 0x10000000;
    vm->uart_irq = 10;
    vm->nregions = 1;
    vm->regions_offset = offset_in_image(&image->regions[i]);
    vm->nloads = 1;
    vm->loads_offset = offset_in_image(&image->loads[i]);
    vm->fixups_offset = offset_in_image(&image->fixups[i]);
    vm->irqs_offset = offset_in_image(&image->fixups[i]);
    image->regions[i] = (struct sysimage_region){
        .gpa = WORLD_GPA, .hpa = HOST_RAM_BASE + i * WORLD_VM_RAM, .size = WORLD_VM_RAM, .kind = SYSIMAGE_REGION_RAM};
    image->loads[i] = (struct sysimage_load){
        .gpa = WORLD_GPA,
        .offset = PAYLOAD_OFFSET,
        .size = sizeof(uint64_t),
        .words = (uint32_t)WORLD_PAYLOAD + (WORLD_PAYLOAD >> 32),
        .sums = 2 * (uint64_t)(uint32_t)WORLD_PAYLOAD + (WORLD_PAYLOAD >> 32),
    };
}

struct world_image *world_image_make(unsigned ncpus, unsigned nvms, const unsigned *nvcpus, unsigned quantum_us)
{
    struct world_image *image = &memory.config.image;

    memset(&memory, 0, sizeof(memory));
    memory.payload[0] = WORLD_PAYLOAD;
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
        .timebase_hz = WORLD_TICKS_PER_US * 1000000U,
        .ram_base = HOST_RAM_BASE,
        .ram_size = HOST_RAM_SIZE,
        .name = "world",
    };
    for (unsigned i = 0; i < nvms; i++) {
        image_vm(image, i, nvcpus[i]);
    }
    world_image_seal(image);
    return image;
}

void world_image_watchdog(struct world_image *image, unsigned vm, unsigned watchdog_ms, unsigned restart_pause_max_ms)
{
    image->vms[vm].watchdog_ms = watchdog_ms;
    image->vms[vm].restart_pause_max_ms = restart_pause_max_ms;
    world_image_seal(image);
}

void world_image_damage(unsigned byte, unsigned char flip)
{
    ((unsigned char *)memory.payload)[byte] ^= flip;
}

void world_image_seal(struct world_image *image)
{
    uint32_t size = image->header.config_size;

    /* A size that makes no sense is refused before anybody computes a checksum over it. */
    if (size >= sizeof(image->header) && size <= sizeof(memory)) {
        image->header.checksum = crc32((const unsigned char *)&memory + 16, size - 16U);
    }
}

const char *world_image_check(const struct world_image *image)
{
    return sysimage_check(&image->header, sizeof(memory));
}

bool world_boot(unsigned ncpus, unsigned nvms, const unsigned *nvcpus, unsigned quantum_us)
{
    return world_boot_image(world_image_make(ncpus, nvms, nvcpus, quantum_us));
}

bool world_boot_image(struct world_image *image)
{
    return world_image_check(image) == NULL && world_boot_checked(&image->header);
}

bool world_boot_checked(const struct sysimage_header *header)
{
    memset(awake, 0, sizeof(awake));
    memset(&costs, 0, sizeof(costs));
    if (hyp.ncpus != 0) {
        world_debug(0, DEBUG_DETACH, 0, 0); /* a session outlives no boot */
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

bool world_vm_start(unsigned cpu, unsigned vm)
{
    world_enter(cpu);
    if (hyp.vms[vm].state == VM_STOPPED || hyp.vms[vm].state == VM_WAITING) {
        memset(host_ram(hyp.vms[vm].memmap.regions[0].hpa), 0xa5, WORLD_VM_RAM); /* as its last run may have left it */
    }
    return vm_start(&hyp.vms[vm]);
}

bool world_vm_stop(unsigned cpu, unsigned vm, bool restart)
{
    world_enter(cpu);
    return vm_stop(&hyp.vms[vm], VM_REASON_CONSOLE, restart);
}

bool world_vcpu_start(unsigned cpu, unsigned vm, unsigned vcpu)
{
    world_enter(cpu);
    return vcpu_start(&hyp.vms[vm].vcpus[vcpu], 0x1000, 7);
}

void world_raise(unsigned cpu, unsigned vm, unsigned vcpu)
{
    world_enter(cpu);
    vcpu_raise(&hyp.vms[vm].vcpus[vcpu], 1);
}

static struct vcpu *current_of(unsigned cpu)
{
    world_enter(cpu);
    return host_cpu->current;
}

void world_wait(unsigned cpu)
{
    world_wait_until(cpu, TICKS_NEVER);
}

void world_wait_until(unsigned cpu, ticks_t deadline)
{
    struct vcpu *v = current_of(cpu);

    if (v != NULL) {
        v->arch.raised = 0; /* it has handled what came */
        v->arch.deadline = deadline;
        vcpu_wait(v);
    }
}

void world_yield(unsigned cpu)
{
    struct vcpu *v = current_of(cpu);

    if (v != NULL) {
        sched_give_way(v);
    }
}

void world_off(unsigned cpu)
{
    struct vcpu *v = current_of(cpu);

    if (v != NULL) {
        vcpu_stop(v);
    }
}

void world_guest_ends(unsigned cpu, bool restart)
{
    struct vcpu *v = current_of(cpu);

    /* Not VM_REASON_SHUTDOWN, with which the last guest would switch the test off too. */
    if (v != NULL) {
        vm_stop(v->vm, VM_REASON_RESET, restart);
    }
}

void world_guest_faults(unsigned cpu)
{
    struct vcpu *v = current_of(cpu);

    if (v != NULL) {
        vm_fatal(v, "a test", 12, 0xdead000);
    }
}

void world_suspend_watchdog(unsigned cpu, unsigned vm, bool suspend)
{
    world_enter(cpu);
    spin_lock(&sched_lock);
    vm_suspend_watchdog(&hyp.vms[vm], suspend);
    spin_unlock(&sched_lock);
}

void world_advance(ticks_t ticks)
{
    host_time += ticks;
}

static bool settle_one(unsigned id)
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

bool world_settle(void)
{
    bool busy = true;

    for (unsigned turn = 0; busy && turn < SETTLE_TURNS; turn++) {
        busy = false;
        for (unsigned i = 0; i < hyp.ncpus; i++) {
            busy |= settle_one(i);
        }
    }
    return !busy;
}

unsigned world_vcpu_state(unsigned vm, unsigned vcpu)
{
    return hyp.vms[vm].vcpus[vcpu].state;
}

unsigned world_vm_state(unsigned vm)
{
    return hyp.vms[vm].state;
}

unsigned world_vm_starts(unsigned vm)
{
    return hyp.vms[vm].starts;
}

unsigned world_vm_restarts(unsigned vm)
{
    return hyp.vms[vm].restarts;
}

ticks_t world_runtime(unsigned vm, unsigned vcpu)
{
    return hyp.vms[vm].vcpus[vcpu].runtime;
}

ulong world_raised(unsigned vm, unsigned vcpu)
{
    struct vcpu *v = &hyp.vms[vm].vcpus[vcpu];
    ulong raised = v->arch.raised | v->pending;

    v->arch.raised = 0;
    return raised;
}

unsigned world_kicks(unsigned cpu)
{
    return cpu_get(cpu)->arch.kicks;
}

int world_on_cpu(unsigned cpu)
{
    const struct vcpu *v = cpu_get(cpu)->current;

    return v == NULL ? -1 : (int)(100U * v->vm->id + v->id);
}

long world_hypercall(unsigned cpu, ulong number, ulong a0, ulong a1, ulong a2, uint64_t *value)
{
    struct hcall_ret ret;

    world_enter(cpu);
    if (host_cpu->current == NULL) {
        return WORLD_NO_CALLER;
    }
    ret = hypercall_dispatch(a0, a1, a2, 0, 0, 0, number);
    if (value != NULL) {
        *value = ret.value;
    }
    return ret.error;
}

void *world_memory(unsigned vm, gpa_t gpa)
{
    return host_ram(hyp.vms[vm].memmap.regions[0].hpa + (gpa - WORLD_GPA));
}
