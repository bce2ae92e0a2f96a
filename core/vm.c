/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a VM. vmload.c fills its memory; vmclock.c is about its watchdog and the pauses between its lives. */
#include "vm.h"

#include "arch.h"
#include "atomic.h"
#include "console.h"
#include "cpu.h"
#include "platform.h"
#include "sched.h"
#include "system.h"

/* Whether a guest would get a device that the hypervisor drives itself. */
static bool vm_has_our_device(const struct vm *vm)
{
    const struct platform_device ours[] = {platform.uart, platform.irqchip, platform.finisher};
    bool has = false;

    for (unsigned i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
        has = has || (ours[i].size != 0 && memmap_covers(&vm->memmap, ours[i].base, ours[i].size));
    }
    return has;
}

const char *vm_init(struct vm *vm, unsigned id, const struct sysimage_vm *config, struct vcpu *vcpus)
{
    vm->id = id;
    vm->config = config;
    vm->vcpus = vcpus;
    vm->nvcpus = config->nvcpus;
    vm->total = config->nvcpus + config->rt_apps;
    vm->memmap.regions = sysimage_at(hyp.image, config->regions_offset);
    vm->memmap.count = config->nregions;
    for (unsigned i = 0; i < vm->total; i++) {
        vcpus[i].vm = vm;
        vcpus[i].id = i;
        vcpus[i].trace_id = id << 8 | i << 16;
        vcpus[i].last_cpu = VCPU_NO_CPU;
        vcpus[i].inbox.by_line = i == 0 && config->message_irq != 0;
        vcpus[i].inbox.sender = (ulong)id << 16 | (ulong)i << 24;
        list_init(&vcpus[i].node);
        timer_init(&vcpus[i].timer, vcpu_timer_expired);
    }
    vm_clock_init(vm);
    if (config->uart != 0 && !vuart_init(vm, (gpa_t)config->uart)) {
        return "too many emulated devices";
    }
    return vm_has_our_device(vm) ? "a guest's device is the hypervisor's" : arch_vm_init(vm);
}

/* VCPU 0, which is on no CPU, gets turns to spend on what its VM is about to do. */
static void vm_take_steps(struct vm *vm)
{
    timer_disarm(&vm->clock.timer);
    sched_remove(&vm->vcpus[0]);
    vm->stage = 0;
    vm->stage_done = 0;
    vm->vcpus[0].request = VCPU_REQ_STEPS;
    sched_wake(&vm->vcpus[0]);
}

void vm_begin(struct vm *vm)
{
    vm->state = VM_LOADING;
    vm->on = 1;
    vm->starts++;
    vm->doorbells = 0;
    vm_take_steps(vm);
}

bool vm_start(struct vm *vm)
{
    bool stopped;

    spin_lock(&sched_lock);
    stopped = vm->state == VM_STOPPED || vm->state == VM_WAITING;
    if (stopped) {
        vm->clock.pause = 0; /* somebody has had a look at it */
        vm_begin(vm);
    }
    spin_unlock(&sched_lock);
    return stopped;
}

void vm_vcpu_left(struct vm *vm)
{
    vm->on--;
    if (vm->on == 0 && vm->state != VM_STOPPING) {
        vm->state = VM_STOPPING;
        vm->reason = VM_REASON_OFF;
        vm->restart = false;
    }
    if (vm->on == 0) {
        vm_take_steps(vm);
    }
}

/* One that runs leaves within its CPU's next exit. */
static void vm_recall(const struct vcpu *v)
{
    cpu_kick(v->cpu, IPI_RESCHED);
}

/* Told to leave; true: it runs, and will. One that does not, of which there may be many, is removed when it is picked, or by
 * vm_end_step(). */
static inline __attribute__((always_inline)) bool vm_halt_vcpu(struct vcpu *v)
{
    atomic_or_relaxed(&v->request, VCPU_REQ_OFF); /* its CPU may be adding a bit of its own */
    if (LIKELY(v->state != VCPU_RUNNING)) {
        return false;
    }
    vm_recall(v);
    return true;
}

/* From here on vm->on counts those that still have to leave their CPU; then there is an end to tell. */
static void vm_halt(struct vm *vm)
{
    struct vcpu *v = vm->vcpus, *end = v + vm->total;
    unsigned on = 0;

    do {
        if (UNLIKELY(vm_halt_vcpu(v))) { /* a branch is less to do 72 times than a sum */
            on++;
        }
    } while (++v < end);
    vm->on = on;
    if (on == 0) {
        vm_take_steps(vm);
    }
}

bool vm_stop_locked(struct vm *vm, enum vm_reason reason, bool restart)
{
    bool stops = vm->state == VM_RUNNING || vm->state == VM_LOADING || vm->state == VM_WAITING;

    /* A person's last word holds also while it stops: else a guest that resets for ever would outrun it. */
    if (stops || (vm->state == VM_STOPPING && reason == VM_REASON_CONSOLE && vm->restart != restart)) {
        vm->reason = reason;
        vm->restart = restart;
    }
    if (stops) {
        vm->state = VM_STOPPING;
        vm_halt(vm);
    }
    return stops;
}

bool vm_stop(struct vm *vm, enum vm_reason reason, bool restart)
{
    bool stops;

    spin_lock(&sched_lock);
    stops = vm_stop_locked(vm, reason, restart);
    spin_unlock(&sched_lock);
    return stops;
}

void vm_fatal(struct vcpu *v, const char *what, ulong cause, gpa_t address)
{
    struct vm *vm = v->vm;

    /* The first of several VCPUs that fail at the same time is the one reported. */
    if (vm_stop(vm, VM_REASON_FATAL, (vm->config->flags & SYSIMAGE_VM_RESTART_FATAL) != 0)) {
        vm->fault = (struct vm_fault){v, what, cause, address};
    }
}

const char *vm_reason_name(enum vm_reason reason)
{
    static const char *const names[] = {
        [VM_REASON_NONE] = "",
        [VM_REASON_CONSOLE] = "by the console",
        [VM_REASON_SHUTDOWN] = "by its own shutdown",
        [VM_REASON_RESET] = "by its own reset",
        [VM_REASON_OFF] = "because its last VCPU turned itself off",
        [VM_REASON_FATAL] = "by a fatal trap",
        [VM_REASON_WATCHDOG] = "by its watchdog",
        [VM_REASON_FAILURE] = "by its own failure",
        [VM_REASON_PAYLOAD] = "because a payload is damaged",
    };

    return names[reason];
}

/* The lines of a fatal trap, with the registers. False if there is no such line. */
static bool tell_fault(const struct vm *vm, unsigned line)
{
    const struct vm_fault *f = &vm->fault;

    if (vm->reason != VM_REASON_FATAL) {
        return false;
    }
    if (line > 0) {
        return arch_vcpu_report(f->vcpu, line - 1);
    }
    console_log("%s vcpu %u: %s: cause %lu (%s), address 0x%lx", vm->config->name, f->vcpu->id, f->what, f->cause,
                arch_cause_name(f->cause), (ulong)f->address);
    return true;
}

/* The last line: why the VM has stopped, and what comes next. */
static void tell_end(struct vm *vm)
{
    const char *name = vm->config->name, *reason = vm_reason_name(vm->reason);
    ticks_t pause = vm->clock.wait = vm->restart ? vm_clock_pause(vm) : 0;

    if (pause != 0) {
        console_log("%s stopped %s, starts again in %lu ms", name, reason, (ulong)(pause / (1000U * hyp.us)));
    } else {
        console_log("%s stopped %s%s", name, reason, vm->restart ? ", starts again" : "");
    }
}

/* Any VCPU but the first, also one that never ran. */
static void end_vcpu(struct vcpu *v)
{
    spin_lock(&sched_lock);
    sched_remove(v);
    spin_unlock(&sched_lock);
}

/* One step; true if it was the last. An interrupt that waits has been looked for. */
static bool __attribute__((noinline)) end_stage(struct vm *vm)
{
    unsigned stage = ++vm->stage;

    if (stage < vm->total) {
        end_vcpu(&vm->vcpus[stage]);
    } else if (stage == vm->total) {
        vm_quiet_devices(vm);
        console_end(vm);
    } else if (!tell_fault(vm, stage - vm->total - 1)) {
        tell_end(vm);
        return true;
    }
    return false;
}

bool vm_end_step(struct vm *vm)
{
    while (!arch_irq_pending()) {
        if (end_stage(vm)) {
            return true;
        }
    }
    return false;
}

/* Under sched_lock: every VM is stopped for good. */
static bool vm_all_stopped(void)
{
    for (unsigned i = 0; i < hyp.nvms; i++) {
        if (hyp.vms[i].state != VM_STOPPED) {
            return false;
        }
    }
    return true;
}

bool vm_go_on(struct vm *vm)
{
    if (!vm->restart) {
        vm->state = VM_STOPPED;
        return vm->reason == VM_REASON_SHUTDOWN && vm_all_stopped();
    }
    vm->restart = false;
    vm->restarts++;
    vm->restarted = vm->reason;
    if (vm->clock.wait != 0) {
        vm_clock_wait(vm);
    } else {
        vm_begin(vm);
    }
    return false;
}

void vm_power_off(void)
{
    console_log("all VMs are stopped: power off");
    console_drain();
    arch_shutdown(false);
}

void vm_raise(struct vm *vm, ulong vcpus, ulong bits)
{
    cpu_gather_kicks();
    for (struct vcpu *v = vm->vcpus; vcpus != 0; v++, vcpus >>= 1) {
        if ((vcpus & 1U) != 0) {
            spin_lock(&sched_lock); /* for each anew: others wait for it */
            vcpu_raise_locked(v, bits);
            spin_unlock(&sched_lock);
        }
    }
    cpu_end_kicks();
}

void vm_unlock(struct vm *vm)
{
    ulong raised = arch_vm_raised(&vm->arch);

    spin_unlock(&vm->lock);
    if (UNLIKELY(raised != 0)) {
        vm_raise(vm, raised, 0);
    }
}

const char *vm_state_name(const struct vm *vm)
{
    static const char *const names[] = {
        [VM_STOPPED] = "stopped",   [VM_LOADING] = "loading", [VM_RUNNING] = "running",
        [VM_STOPPING] = "stopping", [VM_WAITING] = "waiting",
    };

    return names[vm->state];
}
